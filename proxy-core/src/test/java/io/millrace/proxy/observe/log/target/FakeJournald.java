package io.millrace.proxy.observe.log.target;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A datagram socket at a path, as journald has one. */
public final class FakeJournald implements AutoCloseable {
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Socket socket;
    private final ByteBuffer datagram = ByteBuffer.allocateDirect(1 << 18);

    /** Binds the socket. */
    public FakeJournald(Path path) throws IOException {
        Epoll.ensureAvailability();
        socket = Socket.newSocketDomainDgram();
        socket.bind(new DomainSocketAddress(path.toFile()));
    }

    /** Waits for the next entry. */
    public String next() throws IOException {
        long end = System.nanoTime() + WAIT_NANOS;
        while (System.nanoTime() < end) {
            String entry = poll();
            if (entry != null) {
                return entry;
            }
            LockSupport.parkNanos(1_000_000);
        }
        throw new AssertionError("no entry");
    }

    /** Returns the next entry if there is one now, else null. */
    public String poll() throws IOException {
        datagram.clear();
        int length = socket.read(datagram, 0, datagram.capacity());
        if (length <= 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        datagram.get(0, bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
