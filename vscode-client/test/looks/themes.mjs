// The editor's variables in its own three themes, as far as the panel uses them.

const fonts = {
  "font-family": "system-ui, 'Segoe UI', sans-serif", "font-size": "13px",
  "editor-font-family": "monospace", "editor-font-size": "12px",
};

const dark = {
  ...fonts, "foreground": "#cccccc", "descriptionForeground": "#9d9d9d", "sideBar-background": "#181818", "editor-background": "#1f1f1f",
  "widget-border": "#313131", "panel-border": "#2b2b2b", "focusBorder": "#0078d4", "widget-shadow": "#0000005c",
  "button-foreground": "#ffffff", "button-background": "#0078d4", "button-hoverBackground": "#026ec1",
  "button-secondaryForeground": "#cccccc", "button-secondaryBackground": "#313131",
  "button-secondaryHoverBackground": "#3c3c3c", "textLink-foreground": "#4daafc", "textLink-activeForeground": "#4daafc",
  "input-background": "#313131", "input-foreground": "#cccccc", "input-border": "#3c3c3c",
  "input-placeholderForeground": "#989898", "errorForeground": "#f85149", "editorWarning-foreground": "#cca700",
  "editorWidget-background": "#202020", "textPreformat-foreground": "#d0d0d0", "textPreformat-background": "#3c3c3c",
  "textCodeBlock-background": "#2b2b2b", "progressBar-background": "#0078d4", "testing-iconPassed": "#73c991",
  "diffEditor-insertedLineBackground": "#9bb95533", "diffEditor-removedLineBackground": "#ff000033",
  "editorLineNumber-foreground": "#6e7681", "toolbar-hoverBackground": "#5a5d5e50", "tree-indentGuidesStroke": "#585858",
  "scrollbarSlider-background": "#79797966", "debugTokenExpression-string": "#ce9178",
  "debugTokenExpression-number": "#b5cea8", "debugTokenExpression-name": "#c586c0",
  "symbolIcon-functionForeground": "#b180d7", "symbolIcon-keywordForeground": "#cccccc",
  "textBlockQuote-background": "#2b2b2b", "textBlockQuote-border": "#616161", "list-hoverBackground": "#2a2d2e",
  "list-activeSelectionBackground": "#04395e", "list-activeSelectionForeground": "#ffffff",
  "editorSuggestWidget-background": "#202020", "editorSuggestWidget-border": "#454545",
  "menu-background": "#1f1f1f", "menu-foreground": "#cccccc", "menu-border": "#454545",
  "menu-selectionBackground": "#0078d4", "menu-selectionForeground": "#ffffff",
  "dropdown-background": "#313131", "dropdown-foreground": "#cccccc",
};

const light = {
  ...dark, "foreground": "#3b3b3b", "descriptionForeground": "#3b3b3bb3", "sideBar-background": "#f8f8f8", "editor-background": "#ffffff",
  "widget-border": "#e5e5e5", "panel-border": "#e5e5e5", "focusBorder": "#005fb8", "widget-shadow": "#00000029",
  "button-background": "#005fb8", "button-hoverBackground": "#0258a8", "button-secondaryForeground": "#3b3b3b",
  "button-secondaryBackground": "#e5e5e5", "button-secondaryHoverBackground": "#cccccc",
  "textLink-foreground": "#005fb8", "textLink-activeForeground": "#005fb8", "input-background": "#ffffff",
  "input-foreground": "#3b3b3b", "input-border": "#cecece", "input-placeholderForeground": "#767676",
  "errorForeground": "#f85149", "editorWarning-foreground": "#bf8803", "editorWidget-background": "#f8f8f8",
  "textPreformat-foreground": "#3b3b3b", "textPreformat-background": "#0000001f", "textCodeBlock-background": "#f8f8f8",
  "progressBar-background": "#005fb8", "testing-iconPassed": "#73c991",
  "diffEditor-insertedLineBackground": "#9bb95533", "diffEditor-removedLineBackground": "#ff000033",
  "editorLineNumber-foreground": "#6e7681", "toolbar-hoverBackground": "#b8b8b850", "tree-indentGuidesStroke": "#a9a9a9",
  "scrollbarSlider-background": "#64646466", "debugTokenExpression-string": "#a31515",
  "debugTokenExpression-number": "#098658", "debugTokenExpression-name": "#9b46b0",
  "symbolIcon-functionForeground": "#652d90", "symbolIcon-keywordForeground": "#3b3b3b",
  "textBlockQuote-background": "#f8f8f8", "textBlockQuote-border": "#e5e5e5", "list-hoverBackground": "#f2f2f2",
  "list-activeSelectionBackground": "#e8e8e8", "list-activeSelectionForeground": "#000000",
  "editorSuggestWidget-background": "#f8f8f8", "editorSuggestWidget-border": "#c8c8c8", "menu-background": "#ffffff",
  "menu-foreground": "#3b3b3b", "menu-border": "#cecece", "menu-selectionBackground": "#005fb8",
  "dropdown-background": "#ffffff", "dropdown-foreground": "#3b3b3b",
};

const contrast = {
  ...fonts, "foreground": "#ffffff", "descriptionForeground": "#ffffffb3", "sideBar-background": "#000000", "editor-background": "#000000",
  "contrastBorder": "#6fc3df", "contrastActiveBorder": "#f38518", "widget-border": "#6fc3df", "panel-border": "#6fc3df",
  "focusBorder": "#f38518", "button-foreground": "#ffffff", "button-secondaryForeground": "#ffffff",
  "textLink-foreground": "#21a6ff", "textLink-activeForeground": "#21a6ff", "input-background": "#000000",
  "input-foreground": "#ffffff", "input-border": "#6fc3df", "input-placeholderForeground": "#ffffffb3",
  "errorForeground": "#f48771", "editorWarning-foreground": "#ffd370", "editorWidget-background": "#0c141f",
  "textPreformat-foreground": "#ffffff", "textPreformat-background": "#000000", "progressBar-background": "#6fc3df",
  "testing-iconPassed": "#73c991", "editorLineNumber-foreground": "#ffffff", "tree-indentGuidesStroke": "#a9a9a9",
  "debugTokenExpression-string": "#f48771", "debugTokenExpression-number": "#89d185",
  "debugTokenExpression-name": "#ffffff", "menu-background": "#000000", "menu-foreground": "#ffffff",
  "menu-border": "#6fc3df", "editorSuggestWidget-background": "#0c141f", "editorSuggestWidget-border": "#6fc3df",
  "dropdown-background": "#000000", "dropdown-foreground": "#ffffff", "textBlockQuote-border": "#ffffff",
  "scrollbarSlider-background": "#6fc3df99",
};

export const THEMES = {
  dark: { body: "vscode-dark", variables: dark },
  light: { body: "vscode-light", variables: light },
  contrast: { body: "vscode-high-contrast", variables: contrast },
};
