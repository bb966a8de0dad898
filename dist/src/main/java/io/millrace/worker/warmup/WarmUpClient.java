package io.millrace.worker.warmup;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP client of the warm-up with one persistent connection. Not thread-safe, except {@link #abort}.
 *
 * <p>Sending a request and reading its response are separate methods, so that one thread can have requests in progress
 * on many connections.
 */
final class WarmUpClient {
    /** Read timeout of a response. */
    private static final int TIMEOUT_MILLIS = 10_000;

    private static final byte[] HEAD_END = "\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

    private final SocketFactory factory;
    private final InetSocketAddress address;
    private final byte[] input = new byte[64 << 10];
    /** For each outstanding response, whether it has no body because the request is HEAD. */
    private final ArrayDeque<Boolean> withoutBody = new ArrayDeque<>();

    /** Bounds of the unread bytes in {@code input}. */
    private int start;

    private int end;
    private volatile @Nullable Socket socket;
    private volatile boolean aborted;

    /** @param factory factory of plain or TLS sockets */
    WarmUpClient(SocketFactory factory, InetSocketAddress address) {
        this.factory = factory;
        this.address = address;
    }

    private Socket connectedSocket() throws IOException {
        Socket open = socket;
        if (open != null) {
            return open;
        }
        Socket fresh = factory.createSocket(address.getAddress(), address.getPort());
        socket = fresh;
        if (aborted) {
            abort();
        }
        fresh.setTcpNoDelay(true);
        fresh.setSoTimeout(TIMEOUT_MILLIS);
        start = 0;
        end = 0;
        withoutBody.clear();
        return fresh;
    }

    /** Sends a request. Opens the connection first if there is none. */
    void send(byte[] request) throws IOException {
        OutputStream out = connectedSocket().getOutputStream();
        out.write(request);
        withoutBody.add(request[0] == 'H');
    }

    /** Number of responses that are still to be read. */
    int outstanding() {
        return withoutBody.size();
    }

    /**
     * Reads one response. Blocks.
     *
     * @return status code of the response
     */
    int receive() throws IOException {
        InputStream in = connectedSocket().getInputStream();
        System.arraycopy(input, start, input, 0, end - start);
        end -= start;
        start = 0;
        int headEnd = find(in, HEAD_END);
        String head = new String(input, start, headEnd - start, StandardCharsets.ISO_8859_1);
        start = headEnd;
        int status = Integer.parseInt(head.substring(9, 12));
        boolean bodyless = withoutBody.remove() || status == 304 || status == 204;
        if (!bodyless) {
            String length = field(head, "\r\ncontent-length: ");
            if (length != null) {
                skip(in, Integer.parseInt(length));
            } else if (field(head, "\r\ntransfer-encoding: ") != null) {
                // The body consists of zero bytes, so it cannot contain the text that ends it.
                start = find(in, LAST_CHUNK);
            }
        }
        String connection = field(head, "\r\nconnection: ");
        if ("close".equalsIgnoreCase(connection)) {
            close();
        }
        return status;
    }

    private static @Nullable String field(String head, String name) {
        int limit = head.length() - name.length();
        for (int at = head.indexOf('\r'); at >= 0 && at < limit; at = head.indexOf('\r', at + 1)) {
            if (head.regionMatches(true, at, name, 0, name.length())) {
                return head.substring(at + name.length(), head.indexOf('\r', at + 1));
            }
        }
        return null;
    }

    /**
     * Finds the first {@code mark} at or after {@code start}, and returns its end position in {@code input}. Reads from
     * the stream until {@code mark} is found.
     */
    private int find(InputStream in, byte[] mark) throws IOException {
        int from = start;
        while (true) {
            for (int at = from; at <= end - mark.length; at++) {
                if (input[at] == mark[0] && Arrays.mismatch(input, at, at + mark.length, mark, 0, mark.length) < 0) {
                    return at + mark.length;
                }
            }
            from = Math.max(start, end - mark.length + 1);
            if (end == input.length) {
                // The chunked body is longer than the buffer. Only the last bytes are kept, since they may be the
                // beginning of the mark.
                int kept = Math.min(end - start, mark.length - 1);
                System.arraycopy(input, end - kept, input, 0, kept);
                start = 0;
                end = kept;
                from = 0;
            }
            fill(in);
        }
    }

    private void fill(InputStream in) throws IOException {
        int read = in.read(input, end, input.length - end);
        if (read < 0) {
            throw new IOException("the connection ended within a response");
        }
        end += read;
    }

    private void skip(InputStream in, int length) throws IOException {
        int remainingBytes = length;
        while (true) {
            int available = Math.min(remainingBytes, end - start);
            start += available;
            remainingBytes -= available;
            if (remainingBytes == 0) {
                return;
            }
            start = 0;
            end = 0;
            fill(in);
        }
    }

    /** Closes the connection. The next request opens a new one. */
    void close() {
        closeSocket();
        socket = null;
        withoutBody.clear();
    }

    /** Closes the connection permanently, so that requests in progress fail. Thread-safe. */
    void abort() {
        aborted = true;
        closeSocket();
    }

    private void closeSocket() {
        Socket open = socket;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The socket is not used any more, so the failure has no effect.
            }
        }
    }
}
