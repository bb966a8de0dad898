package io.millrace.cli.client;

import io.millrace.cli.client.AdminClientException.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.URLEncoder;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** An HTTP/1.1 client for the admin API. It opens a new connection for each request. Immutable. Blocks. */
public final class AdminClient {
    private final AdminAddress address;
    private final @Nullable String token;
    private final Duration timeout;
    private final @Nullable SSLContext tls;
    private final @Nullable String node;

    /** Creates a client that trusts the JDK's certificate authorities and has no client certificate. */
    public AdminClient(AdminAddress address, @Nullable String token, Duration timeout) {
        this(address, token, timeout, null);
    }

    /**
     * Creates a client.
     *
     * @param token the bearer token, sent over TCP only; null for none
     * @param timeout time limit of one request: connecting, sending and reading the response together
     * @param tls trusted authorities and client certificate for an {@code https} address; null for the JDK's
     *     authorities and no client certificate
     */
    public AdminClient(AdminAddress address, @Nullable String token, Duration timeout, @Nullable SSLContext tls) {
        this(address, token, timeout, tls, null);
    }

    private AdminClient(
            AdminAddress address,
            @Nullable String token,
            Duration timeout,
            @Nullable SSLContext tls,
            @Nullable String node) {
        this.address = address;
        this.token = token;
        this.timeout = timeout;
        this.tls = tls;
        this.node = node;
    }

    /**
     * Returns a client for another node of the fleet (nodes that share purges and configuration). This admin API
     * forwards the queries to that node.
     */
    public AdminClient forNode(String nodeName) {
        return new AdminClient(address, token, timeout, tls, nodeName);
    }

    /** The address of the admin API. */
    public AdminAddress address() {
        return address;
    }

    /** Describes for the user which admin API answers: the address, or a node and the address that leads to it. */
    public String source() {
        return node == null ? address.toString() : "node " + node + ", through " + address;
    }

    /**
     * Sends a GET request, which changes nothing.
     *
     * @param target path and query, percent-encoded
     */
    public AdminResponse get(String target) throws AdminClientException {
        return exchange("GET", node == null ? target : targetOf(node, target), null);
    }

    /**
     * Sends a POST request.
     *
     * @param target path and query, percent-encoded
     * @param json content of the request
     */
    public AdminResponse post(String target, byte[] json) throws AdminClientException {
        if (node != null) {
            throw new AdminClientException(
                    Kind.CHANGE_OF_OTHER_NODE, "--node: other nodes answer queries only, not POST " + target);
        }
        return exchange("POST", target, json);
    }

    private static String targetOf(String node, String target) {
        return "/v1/fleet/read?node=" + URLEncoder.encode(node, StandardCharsets.UTF_8) + "&target="
                + URLEncoder.encode(target, StandardCharsets.UTF_8);
    }

    private AdminResponse exchange(String method, String target, byte @Nullable [] json) throws AdminClientException {
        long deadlineNanos = System.nanoTime() + timeout.toNanos();
        ByteBuffer request = request(method, target, json);
        try (ByteStream channel = openStream(deadlineNanos)) {
            return answer(channel, request);
        } catch (SSLException e) {
            throw untrustedFailure(e.getMessage());
        } catch (SocketTimeoutException e) {
            throw new AdminClientException(
                    Kind.NO_ANSWER, address + " did not answer " + method + " " + target + " within " + seconds());
        } catch (IOException e) {
            throw new AdminClientException(
                    Kind.BROKEN_ANSWER, "the answer of " + address + " cannot be used: " + e.getMessage());
        }
    }

    private ByteStream openStream(long deadlineNanos) throws AdminClientException, IOException {
        ByteStream link = connect(deadlineNanos);
        if (!(address instanceof AdminAddress.Tcp tcp) || !tcp.secure()) {
            return link;
        }
        boolean isConnected = false;
        try {
            SSLContext context = tls == null ? TlsFiles.NONE.context() : tls;
            TlsStream stream = TlsStream.connect(link, context, tcp.host(), tcp.port());
            isConnected = true;
            return stream;
        } finally {
            if (!isConnected) {
                link.close();
            }
        }
    }

    private AdminClientException untrustedFailure(@Nullable String why) {
        return new AdminClientException(Kind.UNTRUSTED, "no TLS connection to " + address + ": " + why);
    }

    private static AdminResponse answer(ByteStream channel, ByteBuffer request) throws IOException {
        @Nullable IOException writeFailure = null;
        try {
            channel.write(request);
        } catch (SocketTimeoutException | SSLException e) {
            throw e;
        } catch (IOException e) {
            // A server that refuses a request may respond and close the connection before it has received the whole
            // request. So this method still reads a response, and reports the write failure only if no response
            // arrives.
            writeFailure = e;
        }
        ResponseReader reader = new ResponseReader(channel);
        try {
            return reader.read();
        } catch (SocketTimeoutException | SSLException e) {
            throw e;
        } catch (IOException e) {
            throw writeFailure != null && !reader.hasStarted() ? writeFailure : e;
        }
    }

    private ByteBuffer request(String method, String target, byte @Nullable [] json) {
        StringBuilder head = new StringBuilder(256);
        head.append(method).append(' ').append(target).append(" HTTP/1.1\r\nHost: ");
        head.append(address instanceof AdminAddress.Tcp tcp ? tcp.authority() : "localhost");
        head.append("\r\nUser-Agent: millctl\r\nAccept: */*\r\nConnection: close\r\n");
        if (token != null && address instanceof AdminAddress.Tcp) {
            head.append("Authorization: Bearer ").append(token).append("\r\n");
        }
        int length = json == null ? 0 : json.length;
        if (json != null) {
            head.append("Content-Type: application/json\r\nContent-Length: ")
                    .append(length)
                    .append("\r\n");
        }
        byte[] bytes = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer request = ByteBuffer.allocate(bytes.length + length).put(bytes);
        if (json != null) {
            request.put(json);
        }
        return request.flip();
    }

    private DeadlineChannel connect(long deadlineNanos) throws AdminClientException {
        if (address instanceof AdminAddress.UnixSocket unix) {
            try {
                return DeadlineChannel.connect(UnixDomainSocketAddress.of(unix.path()), deadlineNanos);
            } catch (IOException | UnsupportedAddressTypeException | UnsupportedOperationException e) {
                throw unreachableFailure(
                        unix + ": " + SocketState.afterFailure(unix.path(), e).words());
            }
        }
        AdminAddress.Tcp tcp = (AdminAddress.Tcp) address;
        String why = "no address";
        try {
            for (InetAddress host : InetAddress.getAllByName(tcp.host())) {
                if (token != null && !tcp.secure() && !host.isLoopbackAddress()) {
                    throw new AdminClientException(
                            Kind.UNTRUSTED,
                            tcp + ": a token is not sent in clear text to another machine; use https://"
                                    + tcp.authority());
                }
                SocketAddress to = new InetSocketAddress(host, tcp.port());
                try {
                    return DeadlineChannel.connect(to, deadlineNanos);
                } catch (SocketTimeoutException e) {
                    throw unreachableFailure(tcp + ": no connection within " + seconds());
                } catch (IOException e) {
                    why = String.valueOf(e.getMessage());
                }
            }
        } catch (UnknownHostException e) {
            why = "unknown host";
        }
        throw unreachableFailure(tcp + ": " + why);
    }

    private static AdminClientException unreachableFailure(String message) {
        return new AdminClientException(Kind.UNREACHABLE, message);
    }

    private String seconds() {
        long millis = timeout.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
