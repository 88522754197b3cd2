/** Something to wait for that the test lets happen. */
export class Gate {
  open: () => void = () => undefined;
  readonly passed = new Promise<void>((resolve) => (this.open = resolve));
}
