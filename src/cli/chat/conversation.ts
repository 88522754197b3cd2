/** A conversation with the service over one surface. */
export interface Conversation {
  /** Sends a message and shows its answer to the end. `failed`: there is none, and why was shown. */
  ask(text: string): Promise<'answered' | 'failed'>;
  /** Cancels the answer under way. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
}
