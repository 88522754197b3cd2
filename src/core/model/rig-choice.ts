/** A rig that can be selected. */
export interface RigChoice {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
}
