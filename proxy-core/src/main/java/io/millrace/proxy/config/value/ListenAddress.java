package io.millrace.proxy.config.value;

import io.netty.util.NetUtil;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A local address to listen on: {@code :8080}, {@code 127.0.0.1:8080}, {@code [::1]:8080} or {@code unix:/path}.
 * Immutable.
 *
 * @param ip the address without brackets, or null for every local address
 * @param port 0 to 65535; 0 lets the system choose
 * @param socket absolute path of a Unix socket, with {@code ip} null and port 0; null for a TCP address
 */
public record ListenAddress(
        @Nullable String ip, int port, @Nullable Path socket) {
    /** Prefix of the text of a Unix socket. No TCP address begins with it. */
    public static final String UNIX = "unix:";

    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9A-Fa-f:.%a-z]+)]|([^:\\[\\]]*)):(\\d{1,5})");

    public ListenAddress {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port: actual=" + port + ", limit=0..65535");
        }
    }

    /** Creates a TCP address. */
    public ListenAddress(@Nullable String ip, int port) {
        this(ip, port, null);
    }

    /** Parses the address of a listener for clients: a TCP address, or {@code unix:} with an absolute path. */
    public static ListenAddress parseListener(String text) throws InvalidValueException {
        if (!text.startsWith(UNIX)) {
            return parse(text);
        }
        String name = text.substring(UNIX.length());
        if (!name.startsWith("/") || name.endsWith("/")) {
            throw new InvalidValueException("'" + text + "' is not a Unix socket such as unix:/run/millrace/http.sock");
        }
        try {
            Path path = Path.of(name).normalize();
            String problem = SocketPath.problem(path);
            if (problem != null) {
                throw new InvalidValueException(problem);
            }
            return new ListenAddress(null, 0, path);
        } catch (InvalidPathException e) {
            throw new InvalidValueException("'" + name + "' is not a path: " + e.getReason());
        }
    }

    /** Parses a TCP address. */
    public static ListenAddress parse(String text) throws InvalidValueException {
        if (!text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new InvalidValueException("'" + text + "' is not an address such as :8080", ":" + text);
        }
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidValueException(
                    "'" + text + "' is not an address such as :8080, 127.0.0.1:8080 or [::1]:8080");
        }
        int port = Integer.parseInt(matcher.group(3));
        if (port > 65535) {
            throw new InvalidValueException("port " + port + " is above the limit of 65535");
        }
        @Nullable String ipv6 = matcher.group(1);
        @Nullable String host = matcher.group(2);
        if (ipv6 != null) {
            if (!NetUtil.isValidIpV6Address(ipv6)) {
                throw new InvalidValueException("'" + ipv6 + "' is not an IPv6 address");
            }
            return new ListenAddress(ipv6, port);
        }
        if (host == null || host.isEmpty()) {
            return new ListenAddress(null, port);
        }
        if (!NetUtil.isValidIpV4Address(host)) {
            @Nullable
            String suggestion = host.equals("*") ? ":" + port : host.equals("localhost") ? "127.0.0.1:" + port : null;
            throw new InvalidValueException("'" + host + "' is not an IP address", suggestion);
        }
        return new ListenAddress(host, port);
    }

    /** Formats the address as in the file. */
    @Override
    public String toString() {
        if (socket != null) {
            return UNIX + socket;
        }
        if (ip == null) {
            return ":" + port;
        }
        return (ip.indexOf(':') >= 0 ? "[" + ip + "]" : ip) + ":" + port;
    }
}
