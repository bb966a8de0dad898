package io.millrace.proxy.geo;

import io.millrace.proxy.http.IpAddress;
import org.jspecify.annotations.Nullable;

/** One version of the databases of IP address locations. Immutable and thread-safe. A lookup does not block. */
public final class GeoDatabase {
    private static final String[] COUNTRY = {"country", "iso_code"};
    private static final String[] CONTINENT = {"continent", "code"};
    private static final String ASN = "autonomous_system_number";

    private final @Nullable MmdbFile places;
    private final @Nullable MmdbFile networks;

    /**
     * @param places database of countries or cities; null for none
     * @param networks database of autonomous systems; null for none
     */
    GeoDatabase(@Nullable MmdbFile places, @Nullable MmdbFile networks) {
        this.places = places;
        this.networks = networks;
    }

    /** Returns the location of an address; {@link GeoLocation#UNKNOWN} for null. */
    public GeoLocation find(@Nullable IpAddress address) {
        if (address == null) {
            return GeoLocation.UNKNOWN;
        }
        MmdbFile file = places;
        int place = file == null ? MmdbFile.NONE : file.find(address);
        String country = file == null || place == MmdbFile.NONE ? null : file.text(place, COUNTRY);
        String continent = file == null || place == MmdbFile.NONE ? null : file.text(place, CONTINENT);
        file = networks;
        int network = file == null ? MmdbFile.NONE : file.find(address);
        long asn = file == null || network == MmdbFile.NONE ? -1 : file.number(network, ASN);
        return country == null && continent == null && asn < 0
                ? GeoLocation.UNKNOWN
                : new GeoLocation(country, continent, asn);
    }
}
