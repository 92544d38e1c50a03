// Markdown on the screen: finished blocks are rendered once and never touched again.

import { memo } from "preact/compat";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useStore } from "./app";
import { Growing } from "./blocks";
import { linkTarget, render } from "./markdown";

export function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const growing = useRef(new Growing());
  const parts = growing.current.blocks(text);
  return (
    <div class="markdown">
      {parts.map((part, index) => (
        <Block key={index} source={part} finished={!streaming || index < parts.length - 1} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ source, finished }: { source: string; finished: boolean }) {
  const store = useStore();
  const element = useRef<HTMLDivElement>(null);
  const html = useMemo(() => ({ __html: render(source, finished) }), [source, finished]);
  useEffect(() => {
    if (finished && element.current) addTools(element.current, store);
  }, [html, finished]);
  const follow = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest("a");
    if (!link) return;
    event.preventDefault();
    const href = link.getAttribute("href") ?? "";
    const target = linkTarget(href);
    if (target === "page") store.do({ do: "openLink", href });
    else if (target === "file") openFile(store, href);
  };
  return <div ref={element} class="block" onClick={follow} dangerouslySetInnerHTML={html} />;
});

/** A file, as a URI or relative to the session's folder, perhaps with a line. */
function openFile(store: ReturnType<typeof useStore>, href: string): void {
  const [path = "", line] = href.split(/#L?|:(?=\d+$)/);
  const folder = store.view.session?.folder ?? store.view.settings.folders[0]?.uri;
  const uri = path.startsWith("file:") ? path : folder && `${folder.replace(/\/$/, "")}/${path.replace(/^\.?\//, "")}`;
  if (!uri) return;
  store.do({ do: "openFile", uri, ...(line ? { line: Number(line) - 1 } : {}) });
}

/** Copy and insert, for each block of code. */
function addTools(element: HTMLElement, store: ReturnType<typeof useStore>): void {
  for (const pre of element.querySelectorAll("pre")) {
    if (pre.querySelector(".code-tools")) continue;
    const text = pre.textContent ?? "";
    const tools = document.createElement("span");
    tools.className = "code-tools";
    tools.append(
      tool("copy", "Copy", () => store.do({ do: "copy", text })),
      tool("insert", "Insert at the cursor", () => store.do({ do: "insertCode", text })),
    );
    pre.append(tools);
    pre.tabIndex = 0; // it may scroll
  }
}

function tool(icon: string, label: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "icon-button";
  button.title = label;
  button.setAttribute("aria-label", label);
  button.innerHTML = `<span class="codicon codicon-${icon}" aria-hidden="true"></span>`;
  button.addEventListener("click", onClick);
  return button;
}
