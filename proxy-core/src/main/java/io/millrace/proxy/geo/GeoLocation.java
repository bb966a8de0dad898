package io.millrace.proxy.geo;

import org.jspecify.annotations.Nullable;

/**
 * The location of an IP address. Immutable.
 *
 * @param country ISO 3166-1 code of the country in upper case, such as {@code DE}; null if unknown
 * @param continent code of the continent: {@code AF}, {@code AN}, {@code AS}, {@code EU}, {@code NA}, {@code OC} or
 *     {@code SA}; null if unknown
 * @param asn number of the autonomous system; negative if unknown
 */
public record GeoLocation(
        @Nullable String country, @Nullable String continent, long asn) {
    /** The location of an address that is in no database. */
    public static final GeoLocation UNKNOWN = new GeoLocation(null, null, -1);
}
