package io.millrace.proxy.observe.log;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Where whole lines go. Confined to the writer thread. */
interface LogTarget {
    /** What to call it in a message. */
    String description();

    /** Opens what is not open, follows a rotation by others, and rotates when it is time. */
    void maintain(long nowMillis) throws IOException;

    /** Whether nothing lies before the next byte written: then a line cut by a failure starts again. */
    boolean isAtStart();

    /** Appends bytes and moves the buffer's position past those that were written. */
    void write(ByteBuffer lines) throws IOException;

    /** Closes what is open; the next {@link #maintain} opens it again by name. */
    void close();
}
