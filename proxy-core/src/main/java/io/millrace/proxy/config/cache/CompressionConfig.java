package io.millrace.proxy.config.cache;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.EncodingRules;
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
     * Returns the rules. Encodings without a library are left out.
     *
     * @param values the general values, or those of a rule over the general ones
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
                levels.put(
                        coding,
                        values.get(
                                switch (coding) {
                                    case BROTLI -> CompressionKeys.BR_LEVEL;
                                    case ZSTD -> CompressionKeys.ZSTD_LEVEL;
                                    case GZIP -> CompressionKeys.GZIP_LEVEL;
                                }));
            }
        }
        List<String> types = values.get(CompressionKeys.TYPES).stream()
                .map(type -> type.toLowerCase(Locale.ROOT))
                .toList();
        return new EncodingRules(
                codings, types, values.get(CompressionKeys.MIN_SIZE), values.get(CompressionKeys.MAX_SIZE), levels);
    }

    /**
     * Checks the names of encodings.
     *
     * @throws InvalidValueException if one is unknown or is listed twice
     */
    public static void checkEncodings(ConfigValues values) throws InvalidValueException {
        List<String> seen = new ArrayList<>();
        for (String name : values.get(CompressionKeys.ENCODINGS)) {
            if (ContentCoding.ofToken(name.toLowerCase(Locale.ROOT)) == null) {
                throw new InvalidValueException("'" + name + "' is no encoding; use br, zstd and gzip");
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
     * @throws InvalidValueException if one has not the form type/subtype
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
        for (String name : values.get(CompressionKeys.ENCODINGS)) {
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
