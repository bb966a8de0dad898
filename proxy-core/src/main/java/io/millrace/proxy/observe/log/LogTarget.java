package io.millrace.proxy.observe.log;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A destination for complete log lines. Confined to the writer thread; at its end, another thread may call
 * {@link #close}.
 */
public interface LogTarget {
    /** Returns the name of the target for messages. */
    String description();

    /**
     * Prepares the target for writing. Opens it if it is closed, detects rotations by other processes, and rotates
     * when due. Called before each batch.
     */
    void maintain(long nowMillis) throws IOException;

    /**
     * Returns true if the next byte is the first one of an empty file or of a new connection. If a failure has cut off
     * a line, the caller then writes the whole line again.
     */
    boolean isAtStart();

    /** Appends bytes, and moves the buffer's position past the written bytes. */
    void write(ByteBuffer lines) throws IOException;

    /**
     * Returns the number of lines of the last {@link #write} that the target could not deliver and will not send
     * again. A target that sends them again later throws an exception instead.
     */
    default int lostLines() {
        return 0;
    }

    /** Returns a text for operators about a failure: the target and the reason. */
    default String failureText(Exception failure) {
        String reason = failure.getMessage();
        String type = failure.getClass().getSimpleName();
        return description() + ": " + (reason == null ? type : type + ": " + reason);
    }

    /** Closes the target. The next {@link #maintain} opens it again by name. */
    void close();
}
