package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.geo.GeoKeys;
import io.millrace.proxy.geo.GeoLocation;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The request field with the country of the client's address, for origins and cache keys. Immutable. */
public final class CountryField {
    private final FieldName name;
    private final ReceivedFields reserved;

    private CountryField(FieldName name) {
        this.name = name;
        this.reserved = ReceivedFields.of(List.of(name));
    }

    /** Returns the field of a configuration; null if there is none. */
    public static @Nullable CountryField of(ProxyConfig config) {
        String name = config.values().find(GeoKeys.COUNTRY_FIELD);
        return name == null ? null : new CountryField(FieldName.of(name));
    }

    /** Returns the fields of a request, in which the country replaces any field of this name from the client. */
    public FieldSection set(FieldSection request, GeoLocation location) {
        String country = location.country();
        FieldSection field = country == null || country.isEmpty() || !isToken(country)
                ? FieldSection.EMPTY
                : FieldSection.builder().add(name, country).build();
        return reserved.changes(request, field, false) ? reserved.replace(request, field, false) : request;
    }

    private static boolean isToken(String text) {
        return text.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }
}
