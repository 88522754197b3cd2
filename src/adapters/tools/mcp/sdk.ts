/** Loads the parts of the SDK that are used. Called on first use, because the SDK is slow to load. */
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

/** The parts of the SDK that are used. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
