package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.observe.log.LogTarget;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A log target that sends each line as one message, without the line feed. If a connection fails, messages that may be
 * lost are sent again on the next connection. So the receiver may get some messages twice. Confined to the sender
 * thread, except {@link #close}.
 */
public final class MessageTarget implements LogTarget {
    /**
     * Limit of a syslog message in bytes; longer messages are cut. This is the default limit of rsyslog and
     * syslog-ng. RFC 5424 s6.1 requires receivers to accept 2048 bytes.
     */
    public static final int SYSLOG_BYTES_MAX = 8192;

    /** Limit of a message to journald in bytes, below the default limit of a datagram on Linux (208 KiB). */
    public static final int JOURNALD_BYTES_MAX = 48 << 10;

    /** Approximate number of bytes that one write to a connection contains. */
    private static final int CHUNK_BYTES = 64 << 10;

    private final MessageSender sender;
    private final int bytesMax;

    MessageTarget(MessageSender sender, int bytesMax) {
        this.sender = sender;
        this.bytesMax = bytesMax;
    }

    /** Returns a closed target that sends to a syslog receiver. */
    public static MessageTarget syslog(SyslogConfig config) {
        boolean datagrams = config.address().protocol() == SyslogAddress.Protocol.UDP;
        return new MessageTarget(
                datagrams ? new SyslogDatagrams(config.address()) : new SyslogStream(config), SYSLOG_BYTES_MAX);
    }

    /** Returns a closed target that sends to journald. */
    public static MessageTarget journald(JournaldConfig config, String log, int sampleRate) {
        return new MessageTarget(new JournaldSocket(config, log, sampleRate), JOURNALD_BYTES_MAX);
    }

    @Override
    public String description() {
        return sender.description();
    }

    @Override
    public void maintain(long nowMillis) throws IOException {
        if (sender.isOpen()) {
            sender.check(nowMillis);
        }
        if (!sender.isOpen()) {
            sender.open();
        }
    }

    /**
     * Returns true. A partly sent message must be sent again completely, because each connection begins with a
     * new message.
     */
    @Override
    public boolean isAtStart() {
        return true;
    }

    @Override
    public void write(ByteBuffer lines) throws IOException {
        byte[] bytes = lines.array();
        int offset = lines.arrayOffset();
        int limit = offset + lines.limit();
        int start = offset + lines.position();
        // Without a buffer, each call sends one message. After a failure, only this message is sent again.
        int chunkEnd = sender.isBuffered() ? Math.min(limit, start + CHUNK_BYTES) : start + 1;
        while (start < chunkEnd) {
            int end = start;
            while (end < limit && bytes[end] != '\n') {
                end++;
            }
            sender.send(bytes, start, Math.min(end - start, bytesMax));
            start = Math.min(end + 1, limit);
        }
        sender.flush();
        lines.position(start - offset);
    }

    @Override
    public void close() {
        sender.close();
    }
}
