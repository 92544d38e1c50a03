// One item that cannot be drawn takes no other with it.

import { Component, type ComponentChildren } from "preact";

export class Boundary extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render() {
    if (this.state.failed) return <div class="muted">This cannot be shown.</div>;
    return this.props.children;
  }
}
