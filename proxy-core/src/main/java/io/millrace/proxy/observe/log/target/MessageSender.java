package io.millrace.proxy.observe.log.target;

import java.io.IOException;

/** Sends log messages to one syslog receiver or journald. Confined to one thread, except {@link #close}. */
interface MessageSender {
    /** Returns the name of the receiver for messages to the operator. */
    String description();

    /** Returns true if the socket is open. */
    boolean isOpen();

    /** Opens the socket. May block for {@link SyslogStream#CONNECT_MILLIS}. */
    void open() throws IOException;

    /**
     * Checks that an open socket can still be used.
     *
     * @throws IOException if the receiver has closed the connection; the caller then closes this sender
     */
    void check(long nowMillis) throws IOException;

    /** Returns true if {@link #send} only puts messages into a buffer, and {@link #flush} sends them. */
    boolean isBuffered();

    /** Sends one message, or puts it into the buffer. */
    void send(byte[] bytes, int offset, int length) throws IOException;

    /** Sends the messages in the buffer. */
    void flush() throws IOException;

    /**
     * Closes the socket without waiting. Any thread may call this method, to interrupt a blocked call of another
     * thread.
     */
    void close();
}
