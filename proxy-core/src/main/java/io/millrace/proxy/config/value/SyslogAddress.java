package io.millrace.proxy.config.value;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a syslog receiver: {@code udp://host:port}, {@code tcp://host:port} or {@code tls://host:port}.
 * Immutable.
 *
 * @param protocol the transport
 * @param host a name or an address, without brackets
 * @param port 1 to 65535
 */
public record SyslogAddress(Protocol protocol, String host, int port) {
    /** A transport of syslog messages. */
    public enum Protocol {
        /** One datagram for each message (RFC 5426). */
        UDP,
        /** Messages with octet counting on a connection (RFC 6587). */
        TCP,
        /** As TCP, with TLS (RFC 5425). */
        TLS
    }

    private static final Pattern FORM =
            Pattern.compile("(udp|tcp|tls)://(?:\\[([0-9A-Fa-f:.]+)]|([A-Za-z0-9._-]{1,255})):(\\d{1,5})");
    private static final String EXAMPLES =
            " is not an address such as udp://192.0.2.1:514, tcp://logs.example:601 or tls://logs.example:6514";

    /**
     * Parses an address.
     *
     * @throws InvalidValueException if the text has another form; the message has examples
     */
    public static SyslogAddress parse(String text) throws InvalidValueException {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidValueException("'" + text + "'" + EXAMPLES);
        }
        int port = Integer.parseInt(matcher.group(4));
        if (port < 1 || port > 65535) {
            throw new InvalidValueException("port " + port + " is not within 1 to 65535");
        }
        String host = matcher.group(2) == null ? matcher.group(3) : matcher.group(2);
        return new SyslogAddress(Protocol.valueOf(matcher.group(1).toUpperCase(Locale.ROOT)), host, port);
    }

    /** Formats the address as in the file. */
    @Override
    public String toString() {
        String shown = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
        return protocol.name().toLowerCase(Locale.ROOT) + "://" + shown + ":" + port;
    }
}
