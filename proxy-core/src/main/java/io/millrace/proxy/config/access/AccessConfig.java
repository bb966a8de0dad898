package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Suggestions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Trusted sources of client data, and the fields that describe the client to origins. Immutable.
 *
 * @param proxyProtocolAllow addresses whose PROXY headers are trusted
 * @param trustedProxies addresses whose fields about the client are trusted
 * @param forwardedFields fields that are sent to origins
 * @param purgeAllow addresses that may purge URLs that no rule maps
 */
public record AccessConfig(
        AddressSet proxyProtocolAllow,
        List<AddressRange> trustedProxies,
        List<ForwardedField> forwardedFields,
        List<AddressRange> purgeAllow) {
    /** A field that describes the client to an origin. */
    public enum ForwardedField {
        /** The addresses of the client and the proxies between, the client first. */
        X_FORWARDED_FOR,
        /** The scheme of the client's request. */
        X_FORWARDED_PROTO,
        /** The host of the client's request. */
        X_FORWARDED_HOST,
        /** All of the above in one field (RFC 7239). */
        FORWARDED,
        /** The client's address only, as in Traffic Server. */
        CLIENT_IP
    }

    /** The value for an empty list of fields or addresses. */
    static final String NONE = "none";

    public static AccessConfig from(ConfigValues values) {
        try {
            AddressSet proxies = values.find(ProxyProtocolKeys.ALLOW);
            return new AccessConfig(
                    proxies == null ? AddressSet.NONE : proxies,
                    ranges(list(values, ConfigKeys.ACCESS_TRUSTED_PROXIES)),
                    fields(list(values, ConfigKeys.ACCESS_FORWARDED_FIELDS)),
                    purgers(values));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("access: " + e.problem(), e);
        }
    }

    /** Returns the addresses of {@link #trustedProxies}, compiled for lookups. */
    public AddressSet trusted() {
        return AddressSet.ofRanges(trustedProxies);
    }

    /** Returns a list of names. The result is empty if the key has neither a value nor a default. */
    public static List<String> list(ConfigValues values, ConfigKey<List<String>> key) {
        List<String> list = values.find(key);
        return list == null ? List.of() : list;
    }

    /**
     * Returns the addresses that may purge.
     *
     * @param values the values of a rule, completed by the general values
     */
    public static List<AddressRange> purgers(ConfigValues values) throws InvalidValueException {
        List<String> texts = list(values, ConfigKeys.PURGE_ALLOW);
        return texts.equals(List.of(NONE)) ? List.of() : ranges(texts);
    }

    public static List<AddressRange> ranges(List<String> texts) throws InvalidValueException {
        List<AddressRange> ranges = new ArrayList<>();
        for (String text : texts) {
            ranges.add(AddressRange.parse(text));
        }
        return List.copyOf(ranges);
    }

    public static List<ForwardedField> fields(List<String> names) throws InvalidValueException {
        if (names.equals(List.of(NONE))) {
            return List.of();
        }
        List<String> known = new ArrayList<>();
        for (ForwardedField field : ForwardedField.values()) {
            known.add(word(field));
        }
        List<ForwardedField> fields = new ArrayList<>();
        for (String name : names) {
            int index = known.indexOf(name.toLowerCase(Locale.ROOT));
            if (index < 0) {
                throw new InvalidValueException(
                        "'" + name + "' is none of " + String.join(", ", known),
                        Suggestions.closest(name.toLowerCase(Locale.ROOT), known));
            }
            fields.add(ForwardedField.values()[index]);
        }
        return List.copyOf(fields);
    }

    private static String word(ForwardedField field) {
        return field.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
