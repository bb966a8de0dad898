package io.millrace.proxy.observe.log;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A destination for complete log lines. Confined to the writer thread. */
public interface LogTarget {
    /** Returns the name of the target for messages. */
    String description();

    /** Opens the target if it is closed, detects rotations by others, and rotates when due. */
    void maintain(long nowMillis) throws IOException;

    /** Returns true if the target is empty. A line that was written in part before a failure is then written again. */
    boolean isAtStart();

    /** Appends bytes and moves the buffer's position past the written ones. */
    void write(ByteBuffer lines) throws IOException;

    /** Closes the target. The next {@link #maintain} opens it again by name. */
    void close();
}
