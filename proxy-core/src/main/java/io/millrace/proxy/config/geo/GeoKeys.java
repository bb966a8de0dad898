package io.millrace.proxy.config.geo;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.nio.file.Path;

/** Configuration keys for databases of the locations of clients. */
public final class GeoKeys {
    public static final ConfigKey<Path> DATABASE = ConfigKey.builder("geo.database", ValueType.PATH)
            .description("File in the MaxMind DB format with countries or cities, for the fields country and continent"
                    + " of conditions. It is read into memory, at most 512 MiB, and read again within 10 s after a"
                    + " change.");
    public static final ConfigKey<Path> ASN_DATABASE = ConfigKey.builder("geo.asn_database", ValueType.PATH)
            .description("File in the MaxMind DB format with autonomous systems, for the field asn of conditions.");

    public static final ConfigKey<String> COUNTRY_FIELD = ConfigKey.builder("geo.country_field", ValueType.FIELD_NAME)
            .description(
                    "Request field with the code of the client's country, such as X-Client-Country. Origins get it,"
                            + " and cache.key.fields can name it. A field of this name from clients is removed. Without it no"
                            + " field is set.");

    private GeoKeys() {}

    /** Returns true if the values name a database. */
    public static boolean areSet(ConfigValues values) {
        return values.isSet(DATABASE) || values.isSet(ASN_DATABASE);
    }
}
