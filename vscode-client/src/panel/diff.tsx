// A hunk as a diff, with the numbers of its lines and everything that hides made visible.

import type { HunkSubject } from "../session/state";
import { visible } from "../session/words";

export function HunkDiff({ hunk }: { hunk: HunkSubject }) {
  if (hunk.truncated) return <p class="muted">Too long to be shown here: review it in the editor.</p>;
  const olds = rows(hunk.oldText);
  const news = rows(hunk.newText);
  return (
    <table class="diff" aria-label={`Lines from ${hunk.line + 1}`}>
      <tbody>
        {olds.map((text, index) => (
          <tr class="removed" key={`-${index}`}>
            <td class="line">{hunk.line + index + 1}</td>
            <td class="sign"><span class="unseen">removed</span>−</td>
            <td class="code">{visible(text, true)}</td>
          </tr>
        ))}
        {news.map((text, index) => (
          <tr class="added" key={`+${index}`}>
            <td class="line">{hunk.line + index + 1}</td>
            <td class="sign"><span class="unseen">added</span>+</td>
            <td class="code">{visible(text, true)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function rows(text: string | undefined): string[] {
  return text ? text.replace(/\r?\n$/, "").split(/\r?\n/) : [];
}
