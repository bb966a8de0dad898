package io.millrace.cli.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/** A connection that sends and receives bytes in order. Confined to one thread. Blocks. */
interface ByteStream extends ReadableByteChannel {
    /** Writes all of {@code bytes}. */
    void write(ByteBuffer bytes) throws IOException;
}
