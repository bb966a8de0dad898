package io.millrace.proxy.observe.log.target;

import java.io.IOException;

/** Sends single messages to one receiver. Confined to one thread, except {@link #close}. */
interface MessageSender {
    /** Returns the name of the receiver for messages to the operator. */
    String description();

    /** Returns true if there is a socket. */
    boolean isOpen();

    /** Opens the socket. May block for {@link SyslogStream#CONNECT_MILLIS}. */
    void open() throws IOException;

    /**
     * Checks that an open socket can still be used.
     *
     * @throws IOException if the receiver has closed the connection
     */
    void check(long nowMillis) throws IOException;

    /** Returns true if messages are sent only by {@link #flush}. */
    boolean isBuffered();

    /** Sends one message, or puts it into the buffer. */
    void send(byte[] bytes, int offset, int length) throws IOException;

    /** Sends the messages of the buffer. */
    void flush() throws IOException;

    /** Closes the socket without waiting. May be called by any thread; a call that blocks then fails. */
    void close();
}
