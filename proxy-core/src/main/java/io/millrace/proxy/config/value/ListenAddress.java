package io.millrace.proxy.config.value;

import io.netty.util.NetUtil;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A local address to listen on: {@code :8080}, {@code 127.0.0.1:8080} or {@code [::1]:8080}. Immutable.
 *
 * @param ip the address without brackets, or null for every local address
 * @param port 0 to 65535; 0 lets the system choose
 */
public record ListenAddress(@Nullable String ip, int port) {
    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9A-Fa-f:.%a-z]+)]|([^:\\[\\]]*)):(\\d{1,5})");

    public ListenAddress {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port: actual=" + port + ", limit=0..65535");
        }
    }

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
        if (ip == null) {
            return ":" + port;
        }
        return (ip.indexOf(':') >= 0 ? "[" + ip + "]" : ip) + ":" + port;
    }
}
