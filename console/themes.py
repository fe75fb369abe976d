"""signoff's own themes: dark, light and high contrast, their contrast computed by a test.

Text reaches 4.5 : 1 on every ground it is drawn on, 7 : 1 in high contrast.
"""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="signoff-dark",
    primary="#7aa2f7",
    secondary="#9ece6a",
    accent="#e0af68",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#d5d9e6",
    background="#14161e",
    surface="#1b1e29",
    panel="#242838",
    dark=True,
    variables={
        "text-muted": "#9aa3bd",
        "text-success": "#a6da7a",
        "text-warning": "#e8bd7d",
        "text-error": "#ff9bad",
        "text-accent": "#8fb4ff",
        "success-muted": "#1c2e1f",
        "error-muted": "#3a1d26",
        "warning-muted": "#35290f",
        "block-cursor-background": "#2f3a5c",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#242838",
        "block-cursor-blurred-foreground": "#d5d9e6",
        "border": "#7aa2f7",
        "border-blurred": "#3a4058",
        "footer-background": "#242838",
        "footer-foreground": "#d5d9e6",
        "footer-description-foreground": "#d5d9e6",
        "footer-key-foreground": "#e8bd7d",
    },
)

LIGHT = Theme(
    name="signoff-light",
    primary="#2450b2",
    secondary="#2c6415",
    accent="#8a4b00",
    warning="#8a4b00",
    error="#b01030",
    success="#2c6415",
    foreground="#1d2330",
    background="#fbfbf8",
    surface="#f2f2ee",
    panel="#e6e6e0",
    dark=False,
    variables={
        "text-muted": "#505868",
        "text-success": "#1d5410",
        "text-warning": "#724000",
        "text-error": "#9c0c2a",
        "text-accent": "#1d46a3",
        "success-muted": "#ddf0d4",
        "error-muted": "#fbe0e3",
        "warning-muted": "#f7ead0",
        "block-cursor-background": "#cfdcf8",
        "block-cursor-foreground": "#101626",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#e6e6e0",
        "block-cursor-blurred-foreground": "#1d2330",
        "border": "#2450b2",
        "border-blurred": "#c2c2ba",
        "footer-background": "#e6e6e0",
        "footer-foreground": "#1d2330",
        "footer-description-foreground": "#1d2330",
        "footer-key-foreground": "#724000",
    },
)

CONTRAST = Theme(
    name="signoff-contrast",
    primary="#ffff00",
    secondary="#00ff66",
    accent="#ffff00",
    warning="#ffd000",
    error="#ff9090",
    success="#60ff90",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#101010",
    dark=True,
    variables={
        "text-muted": "#d0d0d0",
        "text-success": "#60ff90",
        "text-warning": "#ffd850",
        "text-error": "#ffa8a8",
        "text-accent": "#70d8ff",
        "success-muted": "#002a10",
        "error-muted": "#3a0000",
        "warning-muted": "#2a2000",
        "block-cursor-background": "#003c78",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#202020",
        "block-cursor-blurred-foreground": "#ffffff",
        "border": "#ffff00",
        "border-blurred": "#808080",
        "footer-background": "#101010",
        "footer-foreground": "#ffffff",
        "footer-description-foreground": "#ffffff",
        "footer-key-foreground": "#ffff00",
    },
)

THEMES = (DARK, LIGHT, CONTRAST)
#: Own themes for NO_COLOR look the same in greys; the plain one keeps default colours readable.
DEFAULT = DARK.name
