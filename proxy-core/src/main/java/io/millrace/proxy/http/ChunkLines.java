package io.millrace.proxy.http;

/**
 * Counts the bytes of a chunked message that are not content: chunk size lines with extensions, and trailers. Netty's
 * decoder has no configurable limit for these bytes. The count does not depend on how the network split the
 * bytes into reads.
 *
 * <p>Confined to one thread.
 */
public final class ChunkLines {
    /** Bytes of lines that the decoder has consumed since it last produced output. */
    private long lineBytes;

    /**
     * Accounts for one call of the decoder.
     *
     * @param before number of bytes before the call
     * @param unconsumed number of bytes that the decoder did not consume. If it consumed no byte, the bytes are an
     *     incomplete line
     * @param producedOutput whether the decoder produced output; if so, the next call counts from 0 again
     * @param contentBytes number of content bytes in that output
     * @return the number of bytes of lines since the decoder last produced output
     */
    public long after(int before, int unconsumed, boolean producedOutput, int contentBytes) {
        long bytesWithoutOutput = lineBytes + before - unconsumed - contentBytes;
        lineBytes = producedOutput ? 0 : bytesWithoutOutput;
        return before == unconsumed ? bytesWithoutOutput + unconsumed : bytesWithoutOutput;
    }
}
