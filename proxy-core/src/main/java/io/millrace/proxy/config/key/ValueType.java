package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.DayTime;
import io.millrace.proxy.config.value.FieldLines;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.RefererConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.config.value.TlsVersion;
import io.millrace.proxy.config.value.Units;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.output.LogDestination;
import java.math.BigDecimal;
import java.math.RoundingMode;
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
            "boolean", "true or false", Boolean.class, ValueReaders::readBoolean, Object::toString, null, false);
    public static final ValueType<Integer> INTEGER = new ValueType<>(
            "integer", "a whole number", Integer.class, ValueReaders::readInteger, Object::toString, null, false);
    public static final ValueType<Double> DECIMAL = new ValueType<>(
            "number", "a number", Double.class, ValueReaders::readDecimal, ValueType::formatDecimal, null, false);
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
            new ValueType<>("text", "text", String.class, ValueReaders::readString, Function.identity(), null, false);
    public static final ValueType<Path> PATH = new ValueType<>(
            "path", "a file or directory", Path.class, ValueReaders::readPath, Path::toString, null, false);
    public static final ValueType<LoadedFile> FILE = new ValueType<>(
            "file",
            "a file, which is read when the configuration is loaded",
            LoadedFile.class,
            text -> LoadedFile.unread(ValueReaders.readPath(text)),
            LoadedFile::toString,
            null,
            false);
    /** The jar of an extension. */
    public static final ValueType<ExtensionJar> JAR = new ValueType<>(
            "jar",
            "a jar file, whose checksum is computed when the configuration is loaded",
            ExtensionJar.class,
            text -> ExtensionJar.unread(ValueReaders.readPath(text)),
            ExtensionJar::toString,
            null,
            false);
    /** A section whose keys are not in the catalogue. */
    public static final ValueType<ConfigTree> SECTION = new ValueType<>(
            "section",
            "keys that the extension defines",
            ConfigTree.class,
            text -> {
                throw new InvalidValueException("'" + text + "' is not a section");
            },
            ConfigTree::toString,
            null,
            false);
    /** The mode of a Unix socket. */
    public static final ValueType<FileMode> SOCKET_MODE = new ValueType<>(
            "mode",
            "four octal digits, such as 0660",
            FileMode.class,
            FileMode::parseSocket,
            Object::toString,
            null,
            false);

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
    static final ValueType<ListenAddress> LISTEN_ADDRESS = new ValueType<>(
            "address",
            ":port, ip:port, [ipv6]:port or unix:/path",
            ListenAddress.class,
            ListenAddress::parseListener,
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
            "URL", "http://host[:port]/path", String.class, ValueReaders::readUrl, Function.identity(), null, false);
    /** Like {@link #NAMES}, for expressions. They may contain commas, so spaces separate them in a single text. */
    public static final ValueType<List<String>> REFERERS = new ValueType<>(
            "expressions",
            "a list of expressions in RE2's syntax, each of which may begin with ~; * and ~*",
            namesClass(),
            RefererConfig::read,
            expressions -> String.join(" ", expressions),
            null,
            false);

    /** Like {@link #NAMES}, for web origins. Expressions among them may contain commas, so spaces separate them. */
    public static final ValueType<List<String>> CORS_ORIGINS = new ValueType<>(
            "web origins",
            "a list of origins such as https://www.example.com, expressions after ~, null, or *",
            namesClass(),
            WebOrigin::read,
            origins -> String.join(" ", origins),
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
            "percent", "such as 30%", Double.class, ValueReaders::readPercent, ValueType::formatPercent, null, false);
    public static final ValueType<List<String>> NAMES = new ValueType<>(
            "names", "a list of words", namesClass(), ValueReaders::readNames, ValueType::formatNames, null, false);
    /** Like {@link #NAMES}, for field names; the list may be empty. */
    public static final ValueType<List<String>> FIELD_NAMES = new ValueType<>(
            "field names",
            "a list of field names, which may be empty",
            namesClass(),
            ValueReaders::readFieldNames,
            ValueType::formatNames,
            null,
            false);

    /** A query without its question mark, or nothing. */
    public static final ValueType<String> QUERY = new ValueType<>(
            "query",
            "a query without its question mark, which may be empty",
            String.class,
            ValueReaders::readQuery,
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
            ValueReaders::readFieldName,
            Function.identity(),
            null,
            false);

    /** Like {@link #NAMES}, for protocols that a connection may switch to; the list may be empty. */
    public static final ValueType<List<String>> PROTOCOLS = new ValueType<>(
            "protocol names",
            "a list of protocols without versions, which may be empty",
            namesClass(),
            ValueReaders::readProtocols,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for ports; the list may be empty. */
    public static final ValueType<List<String>> PORTS = new ValueType<>(
            "ports",
            "a list of ports, which may be empty",
            namesClass(),
            ValueReaders::readPorts,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for extensions; the list may be empty. */
    public static final ValueType<List<String>> EXTENSION_NAMES = new ValueType<>(
            "extension names",
            "a list of names of extensions, which may be empty",
            namesClass(),
            ValueReaders::readExtensionNames,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for cookies; the list may be empty. */
    public static final ValueType<List<String>> COOKIES = new ValueType<>(
            "cookie names",
            "a list of cookie names, which may be empty",
            namesClass(),
            ValueReaders::readCookies,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for query parameters; the list may be empty. */
    public static final ValueType<List<String>> PARAMETERS = new ValueType<>(
            "parameter names",
            "a list of names of query parameters, not percent-encoded; a * at the end matches any text; may be empty",
            namesClass(),
            ValueReaders::readParameters,
            ValueType::formatNames,
            null,
            false);

    /** Addresses and ranges, compiled for lookups; written as a list or separated by commas. */
    public static final ValueType<AddressSet> ADDRESSES = new ValueType<>(
            "addresses",
            "a list of addresses and ranges: 192.0.2.7, 10.0.0.0/8, 10.0.0.1-10.0.0.9; unix: for Unix sockets; ~"
                    + " before one excludes it; or all",
            AddressSet.class,
            text -> AddressSet.of(ValueReaders.readNames(text)),
            AddressSet::toString,
            null,
            false);

    /** Local addresses of connections: one IPv4 address, one IPv6 address, or both; the list may be empty. */
    public static final ValueType<SourceAddress> SOURCE_ADDRESS = new ValueType<>(
            "source addresses",
            "one IPv4 address, one IPv6 address, or a list of both",
            SourceAddress.class,
            text -> SourceAddress.of(ValueReaders.isEmptyList(text) ? List.of() : ValueReaders.readNames(text)),
            source -> source.equals(SourceAddress.NONE) ? "[]" : source.toString(),
            null,
            false);

    public static final ValueType<String> HOST = new ValueType<>(
            "host",
            "a host name, or an address, IPv6 in brackets",
            String.class,
            ValueReaders::readHost,
            Function.identity(),
            null,
            false);

    /** A host and all of its subdomains; a dot for all hosts. */
    public static final ValueType<String> DOMAIN = new ValueType<>(
            "domain",
            "a domain such as example.com, or . for all",
            String.class,
            ValueReaders::readDomain,
            Function.identity(),
            null,
            false);

    public static final ValueType<String> REGEX = new ValueType<>(
            "expression",
            "a regular expression in RE2 syntax, which matches anywhere unless it has ^ or $",
            String.class,
            ValueReaders::readRegex,
            Function.identity(),
            null,
            false);

    public static final ValueType<String> PATH_PREFIX = new ValueType<>(
            "path",
            "begins with a slash",
            String.class,
            ValueReaders::readPathPrefix,
            Function.identity(),
            null,
            false);

    public static final ValueType<DayTime> DAY_TIME = new ValueType<>(
            "part of the day", "such as 08:00-14:00", DayTime.class, DayTime::parse, Object::toString, null, false);

    static final ValueType<String> LOG_NAME = new ValueType<>(
            "name of a log",
            "1 to 32 letters, digits, '_' and '-'",
            String.class,
            LogValues::readName,
            Function.identity(),
            null,
            false);

    static final ValueType<LogDestination.Target> LOG_TARGET = new ValueType<>(
            "target",
            LogDestination.Target.WORDS,
            LogDestination.Target.class,
            LogValues::readTarget,
            LogDestination.Target::toString,
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
            "1 to 48 letters, digits, '_', '-' and '.'",
            String.class,
            LogValues::readAppName,
            Function.identity(),
            null,
            false);

    static final ValueType<AccessLogFormat> LOG_FORMAT = new ValueType<>(
            "format",
            "squid, combined, common, json, binary, or a template of %<code>",
            AccessLogFormat.class,
            ValueReaders::readLogFormat,
            Object::toString,
            null,
            false);

    static final ValueType<List<String>> LOG_FIELDS = new ValueType<>(
            "codes",
            "a list of codes of templates, without %<>",
            namesClass(),
            LogValues::readFields,
            ValueType::formatNames,
            null,
            false);

    /** Like {@link #NAMES}, for status codes of final responses; the list may be empty. */
    public static final ValueType<List<String>> STATUSES = new ValueType<>(
            "status codes",
            "a list of numbers from 200 to 599, which may be empty",
            namesClass(),
            ValueReaders::readStatuses,
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
     * {@code _} or {@code -}.
     *
     * @param numbered whether a value may also be the constant's ordinal, which Traffic Server uses as its number
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

    /** The unit, the syntax or the words of a value, for the reference page. */
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

    private static String formatPercent(Double value) {
        BigDecimal percent = BigDecimal.valueOf(value).movePointRight(2).setScale(3, RoundingMode.HALF_EVEN);
        return percent.stripTrailingZeros().toPlainString() + "%";
    }

    private static String formatNames(List<String> names) {
        return names.isEmpty() ? "[]" : String.join(", ", names);
    }

    /** Returns true if a list of words may be empty. */
    public boolean mayBeEmpty() {
        return isWords() && this != NAMES && !isSpaced() && this != ADDRESSES;
    }

    /** Returns true if spaces separate the words of a list in a single text, because words may contain commas. */
    public boolean isSpaced() {
        return this == REFERERS || this == CORS_ORIGINS;
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

    @SuppressWarnings("unchecked") // The class of a generic list is its raw class.
    private static Class<List<ConfigValues>> listClass() {
        return (Class<List<ConfigValues>>) (Class<?>) List.class;
    }
}
