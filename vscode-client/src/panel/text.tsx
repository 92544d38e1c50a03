// Markdown on the screen: finished blocks are rendered once and never touched again.

import { memo } from "preact/compat";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { codeParts, fenceOf, Growing } from "./blocks";
import { HIGHLIGHTED, linkTarget, render } from "./markdown";
import type { Store } from "./store";
import { useStore } from "./use";

/** A block that is longer than this is shown as it is until it is finished, in characters. */
const TOO_LONG = 6_000;

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
  const fence = fenceOf(source);
  const plain =
    fence && (finished ? fence.closed && fence.code.length > HIGHLIGHTED : !fence.closed);
  if (plain) return <PlainCode code={fence.code} finished={finished} />;
  if (!finished && source.length > TOO_LONG)
    return (
      <div class="block plain" dir="auto">
        {source}
      </div>
    );
  return <Rendered source={source} finished={finished} />;
});

/** Code without colours: while it is written, and where it is too long for them. */
function PlainCode({ code, finished }: { code: string; finished: boolean }) {
  const store = useStore();
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (finished && element.current) addTools(element.current, store, code);
  }, [finished]);
  return (
    <div class="block" ref={element} key={String(finished)}>
      <pre tabIndex={0} dir="ltr">
        <code>
          {codeParts(code).map((part, index) => (
            <CodePart key={index} text={part} />
          ))}
        </code>
      </pre>
    </div>
  );
}

const CodePart = memo(function CodePart({ text }: { text: string }) {
  return <span class="code-part">{text}</span>;
});

function Rendered({ source, finished }: { source: string; finished: boolean }) {
  const store = useStore();
  const element = useRef<HTMLDivElement>(null);
  const html = useMemo(() => ({ __html: render(source, finished) }), [source, finished]);
  useEffect(() => {
    if (finished && element.current) addTools(element.current, store, fenceOf(source)?.code);
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
}

/** A file, as a URI or relative to the session's folder, perhaps with a line. */
function openFile(store: Store, href: string): void {
  const [path = "", line] = href.split(/#L?|:(?=\d+$)/);
  const folder = store.view.session?.folder ?? store.view.settings.folders[0]?.uri;
  const inside = path.replace(/^(\.?\/)+/, "");
  const uri = path.startsWith("file:") ? path : folder && `${folder.replace(/\/$/, "")}/${inside}`;
  if (!uri) return;
  const number = Number.parseInt(line ?? "", 10);
  store.do({ do: "openFile", uri, ...(number > 0 ? { line: number - 1 } : {}) });
}

/**
 * Copy and insert, for each block of code. `code` is that of a block that is nothing else, as it was
 * written: on the page its line ends are not what they were.
 */
function addTools(element: HTMLElement, store: Store, code?: string): void {
  for (const pre of element.querySelectorAll("pre")) {
    if (pre.parentElement?.classList.contains("code")) continue;
    // The line end before the closing fence is none of the code's.
    const text = (code ?? pre.textContent ?? "").replace(/\r?\n$/, "");
    const tools = document.createElement("span");
    tools.className = "code-tools";
    tools.append(
      tool("copy", "Copy", () => store.do({ do: "copy", text })),
      tool("insert", "Insert at the cursor", () => store.do({ do: "insertCode", text })),
    );
    // It may scroll, so that the keyboard must get there; its tools stand still above it.
    pre.tabIndex = 0;
    const frame = document.createElement("div");
    frame.className = "code";
    pre.replaceWith(frame);
    frame.append(pre, tools);
  }
}

function tool(icon: string, label: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "icon-button";
  button.title = label;
  button.setAttribute("aria-label", label);
  const sign = document.createElement("span");
  sign.className = `codicon codicon-${icon}`;
  sign.setAttribute("aria-hidden", "true");
  button.append(sign);
  button.addEventListener("click", onClick);
  return button;
}
