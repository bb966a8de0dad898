package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.encode.ContentEncoders;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and checks the settings of compression. Stateless. */
public final class CompressionConfig {
    private CompressionConfig() {}

    /**
     * Returns the rules. Leaves out encodings whose library is missing in this program.
     *
     * @param values the general values, or those of a rule completed by the general values
     */
    static EncodingRules read(ConfigValues values) {
        if (!values.get(CompressionKeys.ENABLED)) {
            return EncodingRules.NONE;
        }
        List<ContentCoding> codings = new ArrayList<>();
        Map<ContentCoding, Integer> levels = new EnumMap<>(ContentCoding.class);
        for (String name : values.get(CompressionKeys.ENCODINGS)) {
            ContentCoding coding = ContentCoding.ofToken(name.toLowerCase(Locale.ROOT));
            if (coding != null && ContentEncoders.isAvailable(coding) && !codings.contains(coding)) {
                codings.add(coding);
                levels.put(coding, values.get(levelKey(coding)));
            }
        }
        DictionaryRules dictionaries = dictionaries(values, levels);
        List<String> types = values.get(CompressionKeys.TYPES).stream()
                .map(type -> type.toLowerCase(Locale.ROOT))
                .toList();
        return new EncodingRules(
                codings,
                types,
                values.get(CompressionKeys.MIN_SIZE),
                values.get(CompressionKeys.MAX_SIZE),
                levels,
                dictionaries);
    }

    /** Returns the limit of the memory of all dictionaries in bytes; 0 if no rule uses them. */
    public static long dictionaryMemory(ConfigValues values) {
        boolean isUsed = usesDictionaries(values);
        for (ConfigValues rule : values.elements(ConfigKeys.REMAP)) {
            isUsed |= rule.hasSettingsOfRule() && usesDictionaries(rule.over(values));
        }
        return isUsed ? values.get(CompressionKeys.DICTIONARIES_MEMORY) : 0;
    }

    /** Returns true if dictionaries are used under these values. */
    public static boolean usesDictionaries(ConfigValues values) {
        return values.get(CompressionKeys.ENABLED) && values.get(CompressionKeys.DICTIONARIES_ENABLED);
    }

    private static ConfigKey<Integer> levelKey(ContentCoding coding) {
        return switch (coding) {
            case BROTLI, DICTIONARY_BROTLI -> CompressionKeys.BR_LEVEL;
            case ZSTD, DICTIONARY_ZSTD -> CompressionKeys.ZSTD_LEVEL;
            case GZIP -> CompressionKeys.GZIP_LEVEL;
        };
    }

    private static DictionaryRules dictionaries(ConfigValues values, Map<ContentCoding, Integer> levels) {
        if (!values.get(CompressionKeys.DICTIONARIES_ENABLED)) {
            return DictionaryRules.NONE;
        }
        List<ContentCoding> codings = new ArrayList<>();
        for (String name : values.get(CompressionKeys.DICTIONARIES_ENCODINGS)) {
            ContentCoding coding = ContentCoding.ofToken(name.toLowerCase(Locale.ROOT));
            if (coding != null && ContentEncoders.isAvailable(coding) && !codings.contains(coding)) {
                codings.add(coding);
                levels.put(coding, values.get(levelKey(coding)));
            }
        }
        return new DictionaryRules(
                codings,
                Math.toIntExact(values.get(CompressionKeys.DICTIONARIES_MAX_SIZE)),
                values.get(CompressionKeys.DICTIONARIES_MEMORY));
    }

    /**
     * Checks the names of encodings.
     *
     * @throws InvalidValueException if one is unknown or is listed twice
     */
    public static void checkEncodings(ConfigValues values) throws InvalidValueException {
        check(values.get(CompressionKeys.ENCODINGS), false, "is not an encoding; use br, zstd and gzip");
    }

    /**
     * Checks the names of encodings with a dictionary.
     *
     * @throws InvalidValueException if one is unknown or is listed twice
     */
    public static void checkDictionaryEncodings(ConfigValues values) throws InvalidValueException {
        check(
                values.get(CompressionKeys.DICTIONARIES_ENCODINGS),
                true,
                "is not an encoding with a dictionary; use dcb and dcz");
    }

    private static void check(List<String> names, boolean withDictionary, String unknown) throws InvalidValueException {
        List<String> seen = new ArrayList<>();
        for (String name : names) {
            ContentCoding coding = ContentCoding.ofToken(name.toLowerCase(Locale.ROOT));
            if (coding == null || coding.usesDictionary() != withDictionary) {
                throw new InvalidValueException("'" + name + "' " + unknown);
            }
            if (seen.contains(name)) {
                throw new InvalidValueException("'" + name + "' is listed twice");
            }
            seen.add(name);
        }
    }

    /**
     * Checks the media types.
     *
     * @throws InvalidValueException if one is not of the form type/subtype
     */
    public static void checkTypes(ConfigValues values) throws InvalidValueException {
        for (String type : values.get(CompressionKeys.TYPES)) {
            int slash = type.indexOf('/');
            if (slash < 1 || slash != type.lastIndexOf('/') || slash == type.length() - 1 || type.startsWith("*")) {
                throw new InvalidValueException("'" + type + "' is no media type, such as text/html or text/*");
            }
        }
    }

    /** Returns a warning if this program lacks the library of an encoding in force; null for none. */
    public static @Nullable String missingLibraries(ConfigValues values) {
        if (!values.get(CompressionKeys.ENABLED)) {
            return null;
        }
        List<String> missing = new ArrayList<>();
        List<String> names = new ArrayList<>(values.get(CompressionKeys.ENCODINGS));
        if (values.get(CompressionKeys.DICTIONARIES_ENABLED)) {
            names.addAll(values.get(CompressionKeys.DICTIONARIES_ENCODINGS));
        }
        for (String name : names) {
            ContentCoding coding = ContentCoding.ofToken(name.toLowerCase(Locale.ROOT));
            if (coding != null && !ContentEncoders.isAvailable(coding)) {
                missing.add(name + " (needs " + ContentEncoders.mavenCoordinates(coding) + ")");
            }
        }
        return missing.isEmpty()
                ? null
                : "not used, because its library cannot be loaded: " + String.join(", ", missing);
    }
}
