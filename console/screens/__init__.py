"""One module a screen. Screens are thin: desk calls in jobs, render functions, widgets."""
