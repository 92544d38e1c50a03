// Where the keyboard goes, and only when the person asks: nothing here runs by itself.

/** To the first open question, else to the item of the conversation that was read last. */
export function goToQuestion(): void {
  const card = document.querySelector<HTMLElement>(".approval");
  const item = card ?? document.querySelector<HTMLElement>('[data-item][tabindex="0"]');
  item?.scrollIntoView?.({ block: "nearest" });
  item?.focus();
}

/** A part that had the focus goes away: its item keeps it, so that the keyboard is not lost. */
export function leaveTo(element: HTMLElement | null, selector: string): void {
  if (!element?.contains(document.activeElement)) return;
  element.closest<HTMLElement>(selector)?.focus({ preventScroll: true });
}

/** A line of a list goes away: the same button of the next one gets the keyboard, if any is left. */
export function leaveLine(line: HTMLElement | null, otherwise: () => void): void {
  if (!line?.contains(document.activeElement)) return;
  const label = document.activeElement?.getAttribute("aria-label") ?? "";
  const next = line.nextElementSibling ?? line.previousElementSibling;
  const same = [...(next?.querySelectorAll("button") ?? [])].find(
    (button) => button.getAttribute("aria-label") === label,
  );
  if (same) same.focus();
  else otherwise();
}

/** A hunk was decided: the keyboard goes to where the next one is decided, else to the card. */
export function toNextHunk(card: HTMLElement | null): void {
  const hunk = document.activeElement?.closest(".hunk");
  if (!card || !hunk || !card.contains(hunk)) return;
  const hunks = [...card.querySelectorAll<HTMLElement>(".hunk")];
  const at = hunks.findIndex((one) => one === hunk);
  const next = [...hunks.slice(at + 1), ...hunks.slice(0, at)]
    .map((one) => one.querySelector<HTMLElement>(".hunk-actions"))
    .find((actions) => actions?.querySelector("button:enabled"));
  (next ?? card).focus();
}

/** An Escape that is used up here: neither what stands around it nor the editor hears of it. */
export function escapes(event: KeyboardEvent): boolean {
  if (event.key !== "Escape" || event.defaultPrevented || isComposing(event)) return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** While letters are composed, Enter and Escape belong to the input method. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Arrow keys within a menu or list of buttons. */
export function roam(event: KeyboardEvent, buttons: readonly HTMLElement[]): void {
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  const next =
    event.key === "ArrowDown"
      ? (at + 1) % buttons.length
      : event.key === "ArrowUp"
        ? (at + buttons.length - 1) % buttons.length
        : event.key === "Home"
          ? 0
          : event.key === "End"
            ? buttons.length - 1
            : -1;
  if (next < 0 || !buttons.length) return;
  event.preventDefault();
  buttons[next]?.focus();
}
