package io.millrace.proxy.config.key;

import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.DayTime;
import io.millrace.proxy.config.value.FieldLines;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.RefererConfig;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.config.value.TlsVersion;
import io.millrace.proxy.config.value.Units;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The type of a setting's value: its parser, its formatter and its description for operators. Immutable.
 *
 * @param <T> class of the parsed value; sizes are {@link Long} bytes, durations {@link Duration}
 */
public final class ValueType<T> {
    /** Parses a value. An invalid value is refused with a reason for the operator. */
    interface Reader<T> {
        T read(String text) throws InvalidValueException;
    }

    public static final ValueType<Boolean> BOOLEAN = new ValueType<>(
            "boolean", "true or false", Boolean.class, ValueType::readBoolean, Object::toString, null, false);
    public static final ValueType<Integer> INTEGER = new ValueType<>(
            "integer", "a whole number", Integer.class, ValueType::readInteger, Object::toString, null, false);
    public static final ValueType<Double> DECIMAL = new ValueType<>(
            "number", "a number", Double.class, ValueType::readDecimal, ValueType::formatDecimal, null, false);
    public static final ValueType<Long> SIZE = new ValueType<>(
            "size", "bytes: B, KiB, MiB, GiB, TiB", Long.class, Units::parseSize, Units::formatSize, null, false);
    public static final ValueType<Duration> DURATION = new ValueType<>(
            "duration",
            "time: ms, s, m, h, d",
            Duration.class,
            Units::parseDuration,
            Units::formatDuration,
            null,
            false);
    public static final ValueType<String> STRING =
            new ValueType<>("text", "text", String.class, ValueType::readString, Function.identity(), null, false);
    public static final ValueType<Path> PATH = new ValueType<>(
            "path", "a file or directory", Path.class, ValueType::readPath, Path::toString, null, false);
    static final ValueType<FileMode> FILE_MODE = new ValueType<>(
            "mode", "four octal digits, such as 0640", FileMode.class, FileMode::parse, Object::toString, null, false);
    static final ValueType<ListenAddress> ADDRESS = new ValueType<>(
            "address",
            ":port, ip:port or [ipv6]:port",
            ListenAddress.class,
            ListenAddress::parse,
            Object::toString,
            null,
            false);
    public static final ValueType<RuleUrl> RULE_FROM = new ValueType<>(
            "URL or path",
            "http://host[:port]/path, or /path for every host",
            RuleUrl.class,
            RuleUrl::parseFrom,
            Object::toString,
            null,
            false);
    public static final ValueType<RuleUrl> RULE_REGEX = new ValueType<>(
            "URL with an expression",
            "http://expression[:port]/path",
            RuleUrl.class,
            RuleUrl::parseRegex,
            Object::toString,
            null,
            false);
    static final ValueType<String> URL = new ValueType<>(
            "URL", "http://host[:port]/path", String.class, ValueType::readUrl, Function.identity(), null, false);
    /** Like {@link #NAMES}, for expressions. They may contain commas, so spaces separate them in a single text. */
    public static final ValueType<List<String>> REFERERS = new ValueType<>(
            "expressions",
            "a list of expressions in RE2's syntax, each of which may begin with ~; * and ~*",
            namesClass(),
            RefererConfig::read,
            expressions -> String.join(" ", expressions),
            null,
            false);

    public static final ValueType<String> REFERER_REDIRECT = new ValueType<>(
            "URL with codes",
            "a URL or a path, with %r, %f, %t and %o",
            String.class,
            RefererConfig::readRedirect,
            Function.identity(),
            null,
            false);
    public static final ValueType<RuleUrl> RULE_TO = new ValueType<>(
            "URL", "http://host[:port]/path", RuleUrl.class, RuleUrl::parseTo, Object::toString, null, false);
    public static final ValueType<RuleUrl> ORIGIN = new ValueType<>(
            "URL without path",
            "http://host[:port]",
            RuleUrl.class,
            RuleUrl::parseOrigin,
            RuleUrl::authority,
            null,
            false);
    public static final ValueType<TlsVersion> TLS_VERSION = new ValueType<>(
            "TLS version",
            String.join(", ", TlsVersion.words()),
            TlsVersion.class,
            TlsVersion::parse,
            TlsVersion::text,
            TlsVersion.words(),
            false);
    public static final ValueType<Double> PERCENT = new ValueType<>(
            "percent", "such as 30%", Double.class, ValueType::readPercent, ValueType::formatPercent, null, false);
    public static final ValueType<List<String>> NAMES = new ValueType<>(
            "names", "a list of words", namesClass(), ValueType::readNames, ValueType::formatNames, null, false);
    /** Like {@link #NAMES}, for field names; the list may be empty. */
    public static final ValueType<List<String>> FIELD_NAMES = new ValueType<>(
            "field names",
            "a list of field names, which may be empty",
            namesClass(),
            ValueType::readFieldNames,
            ValueType::formatNames,
            null,
            false);

    /** A query without its question mark, or nothing. */
    public static final ValueType<String> QUERY = new ValueType<>(
            "query",
            "a query without its question mark, which may be empty",
            String.class,
            ValueType::readQuery,
            Function.identity(),
            null,
            false);

    /** Field lines, written as a section {@code {X-Name: value}}; a value may be a list of values. */
    public static final ValueType<FieldLines> FIELD_LINES = new ValueType<>(
            "section of fields",
            "names and values, such as {X-Robots-Tag: noindex}; a list as value adds several lines",
            FieldLines.class,
            FieldLines::parse,
            FieldLines::toString,
            null,
            false);

    public static final ValueType<String> FIELD_NAME = new ValueType<>(
            "field name",
            "the name of a field, such as X-Client-Subject",
            String.class,
            ValueType::readFieldName,
            Function.identity(),
            null,
            false);

    /** Like {@link #NAMES}, for protocols that a connection may switch to; the list may be empty. */
    public static final ValueType<List<String>> PROTOCOLS = new ValueType<>(
            "protocol names",
            "a list of protocols without versions, which may be empty",
            namesClass(),
            ValueType::readProtocols,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for ports; the list may be empty. */
    public static final ValueType<List<String>> PORTS = new ValueType<>(
            "ports",
            "a list of ports, which may be empty",
            namesClass(),
            ValueType::readPorts,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for cookies; the list may be empty. */
    public static final ValueType<List<String>> COOKIES = new ValueType<>(
            "cookie names",
            "a list of cookie names, which may be empty",
            namesClass(),
            ValueType::readCookies,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for query parameters; the list may be empty. */
    public static final ValueType<List<String>> PARAMETERS = new ValueType<>(
            "parameter names",
            "a list of names of query parameters, not percent-encoded; a * at the end matches any text; may be empty",
            namesClass(),
            ValueType::readParameters,
            ValueType::formatNames,
            null,
            false);

    /** Addresses and ranges, compiled for lookups; written as a list or separated by commas. */
    public static final ValueType<AddressSet> ADDRESSES = new ValueType<>(
            "addresses",
            "a list of addresses and ranges: 192.0.2.7, 10.0.0.0/8, 10.0.0.1-10.0.0.9; ~ before one excludes it; or"
                    + " all",
            AddressSet.class,
            text -> AddressSet.of(readNames(text)),
            AddressSet::toString,
            null,
            false);

    /** Local addresses of connections: one IPv4 address, one IPv6 address, or both; the list may be empty. */
    public static final ValueType<SourceAddress> SOURCE_ADDRESS = new ValueType<>(
            "source addresses",
            "one IPv4 address, one IPv6 address, or a list of both",
            SourceAddress.class,
            text -> SourceAddress.of(isEmptyList(text) ? List.of() : readNames(text)),
            source -> source.equals(SourceAddress.NONE) ? "[]" : source.toString(),
            null,
            false);

    public static final ValueType<String> HOST = new ValueType<>(
            "host",
            "a host name, or an address, IPv6 in brackets",
            String.class,
            ValueType::readHost,
            Function.identity(),
            null,
            false);

    /** A host and all of its subdomains; a dot for all hosts. */
    public static final ValueType<String> DOMAIN = new ValueType<>(
            "domain",
            "a domain such as example.com, or . for all",
            String.class,
            ValueType::readDomain,
            Function.identity(),
            null,
            false);

    public static final ValueType<String> REGEX = new ValueType<>(
            "expression",
            "a regular expression in RE2 syntax, which matches anywhere unless it has ^ or $",
            String.class,
            ValueType::readRegex,
            Function.identity(),
            null,
            false);

    public static final ValueType<String> PATH_PREFIX = new ValueType<>(
            "path", "begins with a slash", String.class, ValueType::readPathPrefix, Function.identity(), null, false);

    public static final ValueType<DayTime> DAY_TIME = new ValueType<>(
            "part of the day", "such as 08:00-14:00", DayTime.class, DayTime::parse, Object::toString, null, false);

    static final ValueType<String> LOG_NAME = new ValueType<>(
            "name of a log",
            "1 to 32 letters, digits, _ and -",
            String.class,
            LogValues::readName,
            Function.identity(),
            null,
            false);

    static final ValueType<Expression<LoggedFacts>> LOG_FILTER = new ValueType<>(
            "condition",
            "an expression such as status >= 500; docs/reference/expressions.md",
            LogValues.filterClass(),
            LogValues::readFilter,
            Expression::toString,
            null,
            false);

    static final ValueType<SyslogAddress> SYSLOG_ADDRESS = new ValueType<>(
            "syslog address",
            "udp://host:port, tcp://host:port or tls://host:port",
            SyslogAddress.class,
            SyslogAddress::parse,
            SyslogAddress::toString,
            null,
            false);

    static final ValueType<String> SYSLOG_NAME = new ValueType<>(
            "application name",
            "1 to 48 letters, digits, _, - and .",
            String.class,
            LogValues::readAppName,
            Function.identity(),
            null,
            false);

    static final ValueType<AccessLogFormat> LOG_FORMAT = new ValueType<>(
            "format",
            "squid, combined, common, json, or a template of %<code>",
            AccessLogFormat.class,
            ValueType::readLogFormat,
            Object::toString,
            null,
            false);

    /** Like {@link #NAMES}, for status codes of final responses; the list may be empty. */
    public static final ValueType<List<String>> STATUSES = new ValueType<>(
            "status codes",
            "a list of numbers from 200 to 599, which may be empty",
            namesClass(),
            ValueType::readStatuses,
            ValueType::formatNames,
            null,
            false);

    public static final ValueType<List<ConfigValues>> LIST = new ValueType<>(
            "list",
            "a list",
            listClass(),
            text -> List.of(),
            elements -> elements.size() == 1 ? "1 entry" : elements.size() + " entries",
            null,
            false);

    /**
     * Protocols that carry or hide requests. They cannot be switched to, since their requests would bypass every rule.
     */
    private static final List<String> REFUSED_PROTOCOLS = List.of("h2c", "h2", "http", "tls");

    private final String name;
    private final String unit;
    private final Class<T> valueClass;
    private final Reader<T> reader;
    private final Function<T, String> formatter;
    private final @Nullable List<String> words;
    private final boolean numbered;

    private ValueType(
            String name,
            String unit,
            Class<T> valueClass,
            Reader<T> reader,
            Function<T, String> formatter,
            @Nullable List<String> words,
            boolean numbered) {
        this.name = name;
        this.unit = unit;
        this.valueClass = valueClass;
        this.reader = reader;
        this.formatter = formatter;
        this.words = words;
        this.numbered = numbered;
    }

    /**
     * Returns the type of the constants of {@code enumClass}. A value is a constant's name in lower case, with
     * {@code _} or {@code -}, or the number of Traffic Server, which is the ordinal.
     */
    public static <E extends Enum<E>> ValueType<E> word(Class<E> enumClass, boolean numbered) {
        return word(enumClass, numbered, Map.of());
    }

    /** Like {@link #word(Class, boolean)} without numbers, with synonyms for some words. */
    public static <E extends Enum<E>> ValueType<E> word(Class<E> enumClass, Map<String, E> synonyms) {
        return word(enumClass, false, synonyms);
    }

    private static <E extends Enum<E>> ValueType<E> word(
            Class<E> enumClass, boolean numbered, Map<String, E> synonyms) {
        List<E> constants = List.of(enumClass.getEnumConstants());
        List<String> words = new ArrayList<>();
        for (E constant : constants) {
            words.add(wordOf(constant));
        }
        String unit = String.join(", ", words);
        List<String> accepted = new ArrayList<>(words);
        synonyms.keySet().stream().sorted().forEach(accepted::add);
        return new ValueType<>(
                "word",
                numbered ? unit + "; or 0 to " + (words.size() - 1) : unit,
                enumClass,
                text -> {
                    E other = synonyms.get(text.toLowerCase(Locale.ROOT));
                    if (other != null) {
                        return other;
                    }
                    int index = words.indexOf(text.toLowerCase(Locale.ROOT).replace('-', '_'));
                    if (index < 0 && numbered && text.length() == 1) {
                        index = text.charAt(0) - '0';
                    }
                    if (index < 0 || index >= words.size()) {
                        throw new InvalidValueException(
                                "'" + text + "' is none of " + unit, Suggestions.closest(text, accepted));
                    }
                    return constants.get(index);
                },
                ValueType::wordOf,
                List.copyOf(numbered ? words : accepted),
                numbered);
    }

    /** Name of the type on the reference page: {@code size}, {@code duration}, {@code word} and so on. */
    public String name() {
        return name;
    }

    /** The unit, the form or the words of a value, for the reference page. */
    public String unit() {
        return unit;
    }

    /** Returns true if a word may be replaced by its number, counted from 0. */
    public boolean isNumbered() {
        return numbered;
    }

    /** The words of an enumeration in the order of their numbers. Null for every other type. */
    public @Nullable List<String> words() {
        return words;
    }

    T read(String text) throws InvalidValueException {
        return reader.read(text);
    }

    public String format(T value) {
        return formatter.apply(value);
    }

    public T cast(Object value) {
        return valueClass.cast(value);
    }

    private static String wordOf(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static Boolean readBoolean(String text) throws InvalidValueException {
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

    private static Integer readInteger(String text) throws InvalidValueException {
        try {
            return Integer.valueOf(text);
        } catch (NumberFormatException e) {
            throw new InvalidValueException("'" + text + "' is not a whole number");
        }
    }

    private static Double readDecimal(String text) throws InvalidValueException {
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

    private static Double readPercent(String text) throws InvalidValueException {
        if (!text.endsWith("%")) {
            throw new InvalidValueException("'" + text + "' is not a percentage such as 30%");
        }
        return readDecimal(text.substring(0, text.length() - 1).trim()) / 100;
    }

    private static String formatPercent(Double value) {
        BigDecimal percent = BigDecimal.valueOf(value).movePointRight(2).setScale(3, RoundingMode.HALF_EVEN);
        return percent.stripTrailingZeros().toPlainString() + "%";
    }

    private static AccessLogFormat readLogFormat(String text) throws InvalidValueException {
        try {
            return AccessLogFormat.of(text);
        } catch (LogTemplateException e) {
            throw new InvalidValueException(String.valueOf(e.getMessage()), Suggestions.closest(e.wrong(), e.known()));
        }
    }

    private static List<String> readNames(String text) throws InvalidValueException {
        List<String> names = new ArrayList<>();
        for (String name : text.split(",", -1)) {
            names.add(readString(name.trim()));
        }
        return List.copyOf(names);
    }

    private static List<String> readFieldNames(String text) throws InvalidValueException {
        return readTokens(text, "a field name");
    }

    private static String readFieldName(String text) throws InvalidValueException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (!FieldLexer.isToken(bytes, 0, bytes.length)) {
            throw new InvalidValueException("'" + text + "' is not a field name");
        }
        return text;
    }

    private static List<String> readCookies(String text) throws InvalidValueException {
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

    private static List<String> readParameters(String text) throws InvalidValueException {
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

    private static String readUrl(String text) throws InvalidValueException {
        if (!(TargetUri.parseAbsolute(text) instanceof TargetUri)) {
            throw new InvalidValueException("'" + text + "' is not a URL such as http://host/path");
        }
        return text;
    }

    private static String readDomain(String text) throws InvalidValueException {
        return text.equals(".") ? text : RuleUrl.host(text.startsWith(".") ? text.substring(1) : text, text);
    }

    private static String readRegex(String text) throws InvalidValueException {
        try {
            Regex.compile(readString(text));
            return text;
        } catch (PatternSyntaxException e) {
            throw new InvalidValueException(
                    "'" + Regex.shown(text) + "' is not a regular expression: " + e.getDescription());
        }
    }

    private static String readPathPrefix(String text) throws InvalidValueException {
        if (!text.startsWith("/")) {
            throw new InvalidValueException("'" + text + "' does not begin with a slash", "/" + text);
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] normal = new byte[bytes.length];
        int length = UriBytes.normalizePath(bytes, 0, bytes.length, normal, 0);
        return new String(normal, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static String readQuery(String text) throws InvalidValueException {
        if (text.chars().anyMatch(c -> c <= ' ' || c > '~' || c == '?' || c == '#')) {
            throw new InvalidValueException("'" + text + "' has a character that queries cannot have, or a ? or #");
        }
        return text;
    }

    private static String readHost(String text) throws InvalidValueException {
        return RuleUrl.host(text, text);
    }

    private static List<String> readStatuses(String text) throws InvalidValueException {
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

    /** Returns true if the text is an empty list in the form of {@link #formatNames}. */
    private static boolean isEmptyList(String text) {
        return text.isEmpty() || text.equals("[]");
    }

    private static String formatNames(List<String> names) {
        return names.isEmpty() ? "[]" : String.join(", ", names);
    }

    /** Returns true if a list of words may be empty. */
    public boolean mayBeEmpty() {
        return isWords() && this != NAMES && this != REFERERS && this != ADDRESSES;
    }

    /** Returns true if a value is a list of words, written as a list or separated by commas. */
    public boolean isWords() {
        return (valueClass == namesClass() && this != LIST) || this == ADDRESSES || this == SOURCE_ADDRESS;
    }

    @SuppressWarnings("unchecked") // The class of a generic list is its raw class.
    private static Class<List<String>> namesClass() {
        return (Class<List<String>>) (Class<?>) List.class;
    }

    private static String formatDecimal(Double value) {
        return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }

    private static String readString(String text) throws InvalidValueException {
        if (text.isEmpty()) {
            throw new InvalidValueException("the value is empty");
        }
        return text;
    }

    private static Path readPath(String text) throws InvalidValueException {
        try {
            return Path.of(readString(text));
        } catch (InvalidPathException e) {
            throw new InvalidValueException("'" + text + "' is not a path");
        }
    }

    @SuppressWarnings("unchecked") // The class of a generic list is its raw class.
    private static Class<List<ConfigValues>> listClass() {
        return (Class<List<ConfigValues>>) (Class<?>) List.class;
    }

    private static List<String> readPorts(String text) throws InvalidValueException {
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

    private static List<String> readProtocols(String text) throws InvalidValueException {
        List<String> names = readTokens(text.toLowerCase(Locale.ROOT), "the name of a protocol");
        for (String name : names) {
            if (REFUSED_PROTOCOLS.contains(name)) {
                throw new InvalidValueException("'" + name + "' is not allowed: its requests would bypass every rule");
            }
        }
        return names;
    }
}
