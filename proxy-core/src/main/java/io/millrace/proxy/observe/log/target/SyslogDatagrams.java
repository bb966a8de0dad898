package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.config.value.SyslogAddress;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * Sends syslog messages over UDP (RFC 5426). A missing receiver is detected only if an ICMP message reports it.
 * Confined to one thread, except {@link #close}.
 */
final class SyslogDatagrams implements MessageSender {
    /** Time after which the receiver's name is resolved again. */
    private static final long RESOLVE_MILLIS = 60_000;

    private final SyslogAddress address;
    private volatile @Nullable DatagramSocket socket;
    private long openedAtMillis = -1;

    SyslogDatagrams(SyslogAddress address) {
        this.address = address;
    }

    @Override
    public String description() {
        return address.toString();
    }

    @Override
    public boolean isOpen() {
        return socket != null;
    }

    @Override
    public void open() throws IOException {
        InetSocketAddress to = new InetSocketAddress(address.host(), address.port());
        if (to.isUnresolved()) {
            throw new UnknownHostException(address.host());
        }
        DatagramSocket opened = new DatagramSocket();
        socket = opened;
        openedAtMillis = -1;
        opened.connect(to);
    }

    @Override
    public void check(long nowMillis) {
        if (openedAtMillis < 0) {
            openedAtMillis = nowMillis;
        }
        if (Math.abs(nowMillis - openedAtMillis) >= RESOLVE_MILLIS) {
            close();
        }
    }

    @Override
    public boolean isBuffered() {
        return false;
    }

    @Override
    public void send(byte[] bytes, int offset, int length) throws IOException {
        DatagramSocket open = socket;
        if (open == null) {
            throw new IOException("closed: " + address);
        }
        open.send(new DatagramPacket(bytes, offset, length));
    }

    @Override
    public void flush() {
        // send has already sent each message
    }

    @Override
    public void close() {
        DatagramSocket open = socket;
        socket = null;
        if (open != null) {
            open.close();
        }
    }
}
