/** The parts of the SDK that are used, loaded on first use: they take about 0.3 s. */
export async function loadSdk() {
  const [client, http, types, stdio] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
    import('@modelcontextprotocol/sdk/shared/stdio.js'),
  ]);
  return {
    Client: client.Client,
    StreamableHTTPClientTransport: http.StreamableHTTPClientTransport,
    ResultSchema: types.ResultSchema,
    ToolListChangedNotificationSchema: types.ToolListChangedNotificationSchema,
    parseLine: stdio.deserializeMessage,
  };
}

/** What is used of the SDK. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
