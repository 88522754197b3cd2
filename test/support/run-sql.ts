import { Client } from 'pg';

/** Runs a statement on a PostgreSQL database, outside any store. */
export async function runSql<R extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
