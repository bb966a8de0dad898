package io.millrace.proxy.config.cache;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.util.List;

/**
 * Configuration keys for the content of cache keys, which is the client's URL by default. Remap rules can override
 * all of them.
 */
public final class CacheKeyKeys {
    public static final ConfigKey<Boolean> IGNORE_QUERY = ConfigKey.builder("cache.key.ignore_query", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.http.cache.ignore_query")
            .description(
                    "Whether keys are made without the query. GET and HEAD are then sent to the origin without it too.");
    public static final ConfigKey<List<String>> INCLUDED_PARAMS = ConfigKey.builder(
                    "cache.key.included_params", ValueType.PARAMETERS)
            .defaultsTo(List.of())
            .perRule()
            .atsName("cachekey.so --include-params")
            .description(
                    "Names of the query parameters that stay in keys and origin requests; all others are left out. A *"
                            + " at the end of a name matches any characters; an empty list keeps all parameters.");
    public static final ConfigKey<List<String>> EXCLUDED_PARAMS = ConfigKey.builder(
                    "cache.key.excluded_params", ValueType.PARAMETERS)
            .defaultsTo(List.of())
            .perRule()
            .atsName("cachekey.so --exclude-params")
            .description("Names of query parameters that are left out of keys and origin requests, such as utm_*.");
    public static final ConfigKey<Boolean> SORTED_PARAMS = ConfigKey.builder(
                    "cache.key.sorted_params", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("cachekey.so --sort-params")
            .description(
                    "Whether query parameters are sorted by name, in keys and origin requests; those with equal names"
                            + " keep their order.");
    public static final ConfigKey<Boolean> SEND_WHOLE_QUERY = ConfigKey.builder(
                    "cache.key.send_whole_query", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether origins get the whole query of the client. One client's query can then change the"
                    + " response for all clients: use it only for origins whose responses depend on no parameter that"
                    + " keys omit.");
    public static final ConfigKey<String> HOST = ConfigKey.builder("cache.key.host", ValueType.HOST)
            .perRule()
            .atsName("cachekey.so --static-prefix")
            .description("Host that replaces the requested host in cache keys, so that several hosts share stored"
                    + " responses. They are the hosts of one remap rule, or of remap rules with the same to, path"
                    + " and rules. Origins never get the requested host: Host is that of remap[].to, or with"
                    + " pristine_host_hdr this one.");
    public static final ConfigKey<List<String>> FIELDS = ConfigKey.builder("cache.key.fields", ValueType.FIELD_NAMES)
            .defaultsTo(List.of())
            .perRule()
            .atsName("cachekey.so --include-headers")
            .description("Request fields that select variants, as though every response named them in Vary.");
    public static final ConfigKey<List<String>> COOKIES = ConfigKey.builder("cache.key.cookies", ValueType.COOKIES)
            .defaultsTo(List.of())
            .perRule()
            .atsName("cachekey.so --include-cookies")
            .description("Cookies whose values select variants, as the fields of cache.key.fields do.");
    public static final ConfigKey<Integer> GENERATION = ConfigKey.builder("cache.key.generation", ValueType.INTEGER)
            .within(-1, Integer.MAX_VALUE)
            .defaultsTo(-1)
            .perRule()
            .atsName("proxy.config.http.cache.generation")
            .description("A number that is part of every cache key: after a change, responses stored under another"
                    + " number are not found. An earlier number makes its responses available again. -1 means no"
                    + " number.");

    private CacheKeyKeys() {}
}
