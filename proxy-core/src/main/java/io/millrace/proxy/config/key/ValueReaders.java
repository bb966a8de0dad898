package io.millrace.proxy.config.key;

import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The parsers of the values of {@link ValueType}. Invalid values are refused with a reason for the operator. Stateless.
 */
final class ValueReaders {
    /**
     * Protocols that carry or hide requests. No connection may switch to them, because their requests would bypass
     * every rule.
     */
    private static final List<String> REFUSED_PROTOCOLS = List.of("h2c", "h2", "http", "tls");

    private ValueReaders() {}

    static Boolean readBoolean(String text) throws InvalidValueException {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            case "yes", "on" -> throw new InvalidValueException("'" + text + "' is neither true nor false", "true");
            case "no", "off" -> throw new InvalidValueException("'" + text + "' is neither true nor false", "false");
            default ->
                throw new InvalidValueException(
                        "'" + text + "' is neither true nor false",
                        Suggestions.closest(text, List.of("true", "false")));
        };
    }

    static Integer readInteger(String text) throws InvalidValueException {
        try {
            return Integer.valueOf(text);
        } catch (NumberFormatException e) {
            throw new InvalidValueException("'" + text + "' is not a whole number");
        }
    }

    static Double readDecimal(String text) throws InvalidValueException {
        try {
            double value = new BigDecimal(text).doubleValue();
            if (Double.isFinite(value)) {
                return value;
            }
        } catch (NumberFormatException e) {
            // The text is reported below, like an infinite value.
        }
        throw new InvalidValueException("'" + text + "' is not a number such as 0.1");
    }

    static Double readPercent(String text) throws InvalidValueException {
        if (!text.endsWith("%")) {
            throw new InvalidValueException("'" + text + "' is not a percentage such as 30%");
        }
        return readDecimal(text.substring(0, text.length() - 1).trim()) / 100;
    }

    static AccessLogFormat readLogFormat(String text) throws InvalidValueException {
        try {
            return AccessLogFormat.of(text);
        } catch (LogTemplateException e) {
            throw new InvalidValueException(
                    String.valueOf(e.getMessage()), Suggestions.closest(e.unknownWord(), e.validWords()));
        }
    }

    static List<String> readNames(String text) throws InvalidValueException {
        List<String> names = new ArrayList<>();
        for (String name : text.split(",", -1)) {
            names.add(readString(name.trim()));
        }
        return List.copyOf(names);
    }

    static List<String> readFieldNames(String text) throws InvalidValueException {
        return readTokens(text, "a field name");
    }

    static String readFieldName(String text) throws InvalidValueException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (!FieldLexer.isToken(bytes, 0, bytes.length)) {
            throw new InvalidValueException("'" + text + "' is not a field name");
        }
        return text;
    }

    static List<String> readExtensionNames(String text) throws InvalidValueException {
        return readTokens(text, "the name of an extension");
    }

    static List<String> readCookies(String text) throws InvalidValueException {
        return readTokens(text, "the name of a cookie");
    }

    static List<String> readTokens(String text, String what) throws InvalidValueException {
        if (isEmptyList(text)) {
            return List.of();
        }
        List<String> names = readNames(text);
        for (String name : names) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            if (!FieldLexer.isToken(bytes, 0, bytes.length)) {
                throw new InvalidValueException("'" + name + "' is not " + what);
            }
        }
        return names;
    }

    static List<String> readParameters(String text) throws InvalidValueException {
        if (isEmptyList(text)) {
            return List.of();
        }
        List<String> names = readNames(text);
        for (String name : names) {
            int star = name.indexOf('*');
            if (star >= 0 && star < name.length() - 1) {
                throw new InvalidValueException("'" + name + "' has a * before its end", name.substring(0, star + 1));
            }
            if (name.chars().anyMatch(c -> c == '&' || c == '=' || c == '?')) {
                throw new InvalidValueException(
                        "'" + name + "' is not the name of a parameter, which cannot contain &, = or ?");
            }
        }
        return names;
    }

    static String readUrl(String text) throws InvalidValueException {
        if (!(TargetUri.parseAbsolute(text) instanceof TargetUri)) {
            throw new InvalidValueException("'" + text + "' is not a URL such as http://host/path");
        }
        return text;
    }

    static String readDomain(String text) throws InvalidValueException {
        return text.equals(".") ? text : RuleUrl.host(text.startsWith(".") ? text.substring(1) : text, text);
    }

    static String readRegex(String text) throws InvalidValueException {
        try {
            Regex.compile(readString(text));
            return text;
        } catch (PatternSyntaxException e) {
            throw new InvalidValueException(
                    "'" + Regex.shown(text) + "' is not a regular expression: " + e.getDescription());
        }
    }

    static String readPathPrefix(String text) throws InvalidValueException {
        if (!text.startsWith("/")) {
            throw new InvalidValueException("'" + text + "' does not begin with a slash", "/" + text);
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] normal = new byte[bytes.length];
        int length = UriBytes.normalizePath(bytes, 0, bytes.length, normal, 0);
        return new String(normal, 0, length, StandardCharsets.ISO_8859_1);
    }

    static String readQuery(String text) throws InvalidValueException {
        if (text.chars().anyMatch(c -> c <= ' ' || c > '~' || c == '?' || c == '#')) {
            throw new InvalidValueException("'" + text + "' has a character that queries cannot have, or a ? or #");
        }
        return text;
    }

    static String readHost(String text) throws InvalidValueException {
        return RuleUrl.host(text, text);
    }

    static List<String> readStatuses(String text) throws InvalidValueException {
        if (isEmptyList(text)) {
            return List.of();
        }
        List<String> codes = readNames(text);
        for (String code : codes) {
            boolean isCode = code.length() == 3 && code.chars().allMatch(c -> c >= '0' && c <= '9');
            if (!isCode || code.compareTo("200") < 0 || code.compareTo("599") > 0) {
                throw new InvalidValueException("'" + code + "' is not a status code from 200 to 599");
            }
        }
        return codes;
    }

    /** Returns true if the text is an empty list as {@link ValueType} formats it. */
    static boolean isEmptyList(String text) {
        return text.isEmpty() || text.equals("[]");
    }

    static String readString(String text) throws InvalidValueException {
        if (text.isEmpty()) {
            throw new InvalidValueException("the value is empty");
        }
        return text;
    }

    static Path readPath(String text) throws InvalidValueException {
        try {
            return Path.of(readString(text));
        } catch (InvalidPathException e) {
            throw new InvalidValueException("'" + text + "' is not a path");
        }
    }

    static List<String> readPorts(String text) throws InvalidValueException {
        List<String> ports = readTokens(text, "a port");
        for (String port : ports) {
            boolean number = port.length() <= 5 && port.chars().allMatch(c -> c >= '0' && c <= '9');
            int value = number ? Integer.parseInt(port) : 0;
            if (value < 1 || value > 65535) {
                throw new InvalidValueException("'" + port + "' is not a port from 1 to 65535");
            }
        }
        return ports;
    }

    static List<String> readProtocols(String text) throws InvalidValueException {
        List<String> names = readTokens(text.toLowerCase(Locale.ROOT), "the name of a protocol");
        for (String name : names) {
            if (REFUSED_PROTOCOLS.contains(name)) {
                throw new InvalidValueException("'" + name + "' is not allowed: its requests would bypass every rule");
            }
        }
        return names;
    }
}
