package io.millrace.proxy.observe.log.target;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sends messages in journald's native protocol, each as a datagram of lines {@code FIELD=value}. Uses Netty's
 * native transport, because Java has no Unix datagram sockets. Confined to one thread, except
 * {@link #close}.
 *
 * <p>Source: systemd, "Native Journal Protocol".
 */
final class JournaldSocket implements MessageSender {
    private static final byte[] MESSAGE = "MESSAGE=".getBytes(StandardCharsets.US_ASCII);

    /** Time limit for a message while journald's queue is full. */
    private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Interval between attempts to send a message while journald's queue is full. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final JournaldConfig config;
    private final byte[] fields;
    private final ByteBuffer datagram;
    private volatile @Nullable Socket socket;

    JournaldSocket(JournaldConfig config, String log, int sampleRate) {
        this.config = config;
        String text = "\nPRIORITY=" + config.severity().code() + "\nSYSLOG_IDENTIFIER=" + config.identifier()
                + "\nMILLRACE_LOG=" + log + (sampleRate > 1 ? "\nMILLRACE_SAMPLE=" + sampleRate : "") + "\n";
        fields = text.getBytes(StandardCharsets.US_ASCII);
        datagram = ByteBuffer.allocateDirect(MESSAGE.length + MessageTarget.JOURNALD_BYTES_MAX + fields.length);
    }

    @Override
    public String description() {
        return "journald, " + config.socket();
    }

    @Override
    public boolean isOpen() {
        return socket != null;
    }

    @Override
    public void open() throws IOException {
        if (!Epoll.isAvailable()) {
            throw new IOException(
                    "journald needs epoll, which is not available here; use the target syslog or stdout",
                    Epoll.unavailabilityCause());
        }
        if (!Files.exists(config.socket())) {
            throw new NoSuchFileException(
                    config.socket().toString(), null, "journald is not running; use the target syslog or stdout");
        }
        Socket opened = Socket.newSocketDomainDgram();
        socket = opened;
        try {
            opened.connect(new DomainSocketAddress(config.socket().toFile()));
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    @Override
    public void check(long nowMillis) {
        // Nothing to check: a datagram socket reports a missing receiver only when the next message is sent.
    }

    @Override
    public boolean isBuffered() {
        return false;
    }

    @Override
    public void send(byte[] bytes, int offset, int length) throws IOException {
        datagram.clear();
        datagram.put(MESSAGE).put(bytes, offset, length).put(fields);
        long deadline = System.nanoTime() + FULL_NANOS;
        while (true) {
            Socket open = socket;
            if (open == null) {
                throw new IOException("closed: " + description());
            }
            if (open.write(datagram, 0, datagram.position()) > 0) {
                return;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("journald did not accept a message within 1 s");
            }
            LockSupport.parkNanos(this, RETRY_NANOS);
        }
    }

    @Override
    public void flush() {
        // send has already sent each message
    }

    @Override
    public void close() {
        Socket open = socket;
        socket = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The socket is closed anyway.
            }
        }
    }
}
