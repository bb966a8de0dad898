package io.millrace.proxy.config;

import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.ForwardProxyConfig;
import io.millrace.proxy.config.access.Limits;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.access.PurgeConfig;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.access.RequestLimitsConfig;
import io.millrace.proxy.config.access.Timeouts;
import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.cache.CacheConfig;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.dns.DnsConfig;
import io.millrace.proxy.config.dns.DnsKeys;
import io.millrace.proxy.config.extension.ExtensionsConfig;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LogConfig;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.StorageConfig;
import io.millrace.proxy.config.key.StoreSettings;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.key.ViaConfig;
import io.millrace.proxy.config.key.VolumeShareConfig;
import io.millrace.proxy.config.key.WorkerConfig;
import io.millrace.proxy.config.origins.Http2Config;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.rules.RulesConfig;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.AcmeKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.tls.TlsConfig;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.RemapVerb;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The complete and validated configuration of the proxy, with one record per section. {@code ConfigLoader} creates it
 * from a file, and a {@link Builder} creates it in code. Immutable. Two configurations are equal if the same keys were
 * set to the same values.
 */
public final class ProxyConfig {
    private final ConfigValues values;
    private final List<ListenerConfig> listeners;
    private final List<RemapRuleConfig> remap;
    private final RemapRuleConfig forwardRule;
    private final List<OriginGroupConfig> originGroups;
    private final AccessConfig access;
    private final ForwardProxyConfig forwardProxy;
    private final FilterRules filters;
    private final RulesConfig rules;
    private final RequestLimitsConfig requestLimits;
    private final ExtensionsConfig extensions;
    private final ViaConfig via;
    private final List<StorageConfig> storage;
    private final List<VolumeShareConfig> volumes;
    private final StoreSettings store;
    private final PurgeConfig purges;
    private final CacheConfig cache;
    private final List<CacheRuleConfig> cacheRules;
    private final LogConfig log;
    private final AdminConfig admin;
    private final Timeouts timeouts;
    private final Limits limits;
    private final OriginConfig origin;
    private final DnsConfig dns;
    private final Http2Config http2;
    private final WorkerConfig worker;
    private final TlsConfig tls;
    private final @Nullable AcmeConfig acme;
    private final @Nullable FleetConfig fleet;

    public ProxyConfig(ConfigValues values) {
        this.values = values;
        listeners = values.elements(ConfigKeys.LISTEN).stream()
                .map(listener -> ListenerConfig.from(listener, values))
                .toList();
        remap = RemapRuleConfig.all(values.elements(ConfigKeys.REMAP), values);
        forwardRule = RemapRuleConfig.forwarding(remap.size(), values);
        originGroups = values.elements(OriginGroupKeys.ORIGINS).stream()
                .map(group -> OriginGroupConfig.from(group, values))
                .toList();
        access = AccessConfig.from(values);
        purges = PurgeConfig.from(values);
        forwardProxy = ForwardProxyConfig.from(values);
        filters = FilterRules.from(values);
        rules = RulesConfig.from(values);
        requestLimits = RequestLimitsConfig.from(values);
        extensions = ExtensionsConfig.from(values);
        via = ViaConfig.from(values);
        storage = values.elements(ConfigKeys.STORAGE).stream()
                .map(StorageConfig::from)
                .toList();
        volumes = values.elements(ConfigKeys.VOLUMES).stream()
                .map(VolumeShareConfig::from)
                .toList();
        store = StoreSettings.from(values);
        cache = CacheConfig.from(values);
        List<CacheRuleConfig> orderedCacheRules = new ArrayList<>();
        for (ConfigValues element : values.elements(CacheRulesKeys.CACHE_RULES)) {
            orderedCacheRules.add(CacheRuleConfig.from(orderedCacheRules.size(), element));
        }
        cacheRules = List.copyOf(orderedCacheRules);
        log = LogConfig.from(values);
        admin = AdminConfig.from(values);
        timeouts = Timeouts.from(values);
        limits = Limits.from(values);
        origin = OriginConfig.from(values);
        dns = DnsConfig.from(values);
        http2 = Http2Config.from(values);
        worker = WorkerConfig.from(values);
        acme = AcmeConfig.from(values);
        fleet = FleetConfig.from(values);
        tls = TlsConfig.from(values);
    }

    /** Returns the configuration with every default: no listener, no rule, no disk. */
    public static ProxyConfig defaults() {
        return builder().build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a configuration that maps every host to one origin, like {@code run --origin URL --listen ADDRESS}.
     *
     * @param listen such as {@code :8080}
     * @param originUrl such as {@code http://127.0.0.1:9000}
     * @throws IllegalArgumentException if one of the two is invalid; the message describes the problem
     */
    public static ProxyConfig forOrigin(String listen, String originUrl) {
        return builder().listen(listen).map("/", originUrl).build();
    }

    /** Returns the values that were set, by key, without defaults. */
    public ConfigValues values() {
        return values;
    }

    public List<ListenerConfig> listeners() {
        return listeners;
    }

    /** The rules in the order of the file. */
    public List<RemapRuleConfig> remap() {
        return remap;
    }

    /** The URL to which requests without a host are redirected if no rule maps them. Null for no redirect. */
    public @Nullable String noHostUrlRedirect() {
        return values.find(ConfigKeys.NO_HOST_URL_REDIRECT);
    }

    /** The origin groups in the order of the file. Rules refer to a group by its name. */
    public List<OriginGroupConfig> originGroups() {
        return originGroups;
    }

    public PurgeConfig purges() {
        return purges;
    }

    public AccessConfig access() {
        return access;
    }

    /** The filters that allow or deny requests. */
    public FilterRules filters() {
        return filters;
    }

    /**
     * The settings of requests that are forwarded without a rule. They have the form of a rule with the lowest
     * precedence.
     */
    public RemapRuleConfig forwardRule() {
        return forwardRule;
    }

    public ForwardProxyConfig forwardProxy() {
        return forwardProxy;
    }

    public ViaConfig via() {
        return via;
    }

    /** The storage paths of the disk cache; empty if the cache is in RAM only. */
    public List<StorageConfig> storage() {
        return storage;
    }

    /** The volumes: shares of every storage path for some hosts. The rest belongs to the default volume. */
    public List<VolumeShareConfig> volumes() {
        return volumes;
    }

    public StoreSettings store() {
        return store;
    }

    /** The general cache settings; each rule has its own copy, which may differ. */
    public CacheConfig cache() {
        return cache;
    }

    /**
     * Cache rules in the order of the file. They override the cache settings of the remap rule for matching requests.
     */
    public List<CacheRuleConfig> cacheRules() {
        return cacheRules;
    }

    public LogConfig log() {
        return log;
    }

    public AdminConfig admin() {
        return admin;
    }

    public Timeouts timeouts() {
        return timeouts;
    }

    public Limits limits() {
        return limits;
    }

    public OriginConfig origin() {
        return origin;
    }

    public Http2Config http2() {
        return http2;
    }

    public DnsConfig dns() {
        return dns;
    }

    public WorkerConfig worker() {
        return worker;
    }

    /** The TLS settings and certificates that several addresses share. */
    public TlsConfig tls() {
        return tls;
    }

    /** Settings of automatically issued certificates; null if there are none. */
    public @Nullable AcmeConfig acme() {
        return acme;
    }

    /** Returns the settings of the fleet; null without a fleet. */
    public @Nullable FleetConfig fleet() {
        return fleet;
    }

    /** The rules that change requests and responses. */
    public RulesConfig rules() {
        return rules;
    }

    /** The extensions, and the remap rules that use them. */
    public ExtensionsConfig extensions() {
        return extensions;
    }

    /** The request rate limits. */
    public RequestLimitsConfig requestLimits() {
        return requestLimits;
    }

    /** Returns a builder that starts from this configuration. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ProxyConfig that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString(ConfigCatalog.keys());
    }

    /**
     * Builds a configuration in code, validated by the same catalogue as a file. Each method throws
     * {@link IllegalArgumentException} with the problem as its message. Confined to one thread.
     */
    public static final class Builder {
        private final ConfigValues.Builder values;
        private final List<ConfigValues> listen = new ArrayList<>();
        private final List<ConfigValues> remap = new ArrayList<>();
        private final List<ConfigValues> origins = new ArrayList<>();
        private final List<ConfigValues> storage = new ArrayList<>();
        private final List<ConfigValues> volumes = new ArrayList<>();
        private final List<ConfigValues> cacheRules = new ArrayList<>();
        private final List<ConfigValues> filters = new ArrayList<>();
        private final List<ConfigValues> accessFilters = new ArrayList<>();
        private final List<ConfigValues> splitDns = new ArrayList<>();
        private final List<ConfigValues> certificates = new ArrayList<>();
        private final List<ConfigValues> acmeIssuers = new ArrayList<>();
        private final List<ConfigValues> accessLogs = new ArrayList<>();

        private Builder() {
            values = ConfigValues.builder();
        }

        private Builder(ProxyConfig start) {
            values = start.values.toBuilder();
            listen.addAll(start.values.elements(ConfigKeys.LISTEN));
            remap.addAll(start.values.elements(ConfigKeys.REMAP));
            origins.addAll(start.values.elements(OriginGroupKeys.ORIGINS));
            storage.addAll(start.values.elements(ConfigKeys.STORAGE));
            volumes.addAll(start.values.elements(ConfigKeys.VOLUMES));
            cacheRules.addAll(start.values.elements(CacheRulesKeys.CACHE_RULES));
            filters.addAll(start.values.elements(FilterKeys.FILTERS));
            accessFilters.addAll(start.values.elements(FilterKeys.ACCESS_FILTERS));
            splitDns.addAll(start.values.elements(DnsKeys.SPLIT));
            certificates.addAll(start.values.elements(SharedTlsKeys.CERTIFICATES));
            acmeIssuers.addAll(start.values.elements(AcmeKeys.ISSUERS));
            accessLogs.addAll(start.values.elements(LogKeys.LOGS));
        }

        /** Sets one key of {@link ConfigKeys} that is neither a list nor part of a list element. */
        public <T> Builder set(ConfigKey<T> key, T value) {
            if (key.type() == ValueType.LIST || key.path().indexOf('[') >= 0) {
                throw new IllegalArgumentException(
                        key.path() + ": set through listen, map, storage, volume, cacheRule or filter");
            }
            values.set(key, value);
            return this;
        }

        /** Sets one key from text, as in a file: {@code set("cache.ram_size", "2GiB")}. */
        public Builder set(String path, String value) {
            ConfigKey<?> key = ConfigCatalog.find(path);
            if (key == null || key.type() == ValueType.LIST || path.indexOf('[') >= 0) {
                throw new IllegalArgumentException(path + ": unknown key");
            }
            values.put(key, read(key, value));
            return this;
        }

        /** Adds a listening address without TLS, such as {@code :8080} or {@code 127.0.0.1:0}. */
        public Builder listen(String address) {
            listen.add(element(ConfigKeys.LISTEN_ADDRESS, address).build());
            return this;
        }

        /** Adds a listening address without TLS, with the given values of other keys below {@code listen[]}. */
        public Builder listen(String address, ConfigValues settings) {
            ConfigValues.Builder element = settings.toBuilder();
            element.put(ConfigKeys.LISTEN_ADDRESS, read(ConfigKeys.LISTEN_ADDRESS, address));
            listen.add(element.build());
            return this;
        }

        /** Adds an address without TLS, where connections may begin with a PROXY header. */
        public Builder listen(String address, ListenerConfig.ProxyProtocol proxyProtocol) {
            listen.add(element(ConfigKeys.LISTEN_ADDRESS, address)
                    .set(ProxyProtocolKeys.LISTEN, proxyProtocol)
                    .build());
            return this;
        }

        /** Adds a TLS address; both files are PEM. */
        public Builder listen(String address, Path certificate, Path key) {
            return listen(address, certificate, key, ListenerConfig.ProxyProtocol.OFF);
        }

        /** Adds a TLS address where connections may begin with a PROXY header; both files are PEM. */
        public Builder listen(String address, Path certificate, Path key, ListenerConfig.ProxyProtocol proxyProtocol) {
            listen.add(element(ConfigKeys.LISTEN_ADDRESS, address)
                    .set(ProxyProtocolKeys.LISTEN, proxyProtocol)
                    .set(ConfigKeys.LISTEN_CERTIFICATE, certificate.toAbsolutePath())
                    .set(ConfigKeys.LISTEN_KEY, key.toAbsolutePath())
                    .build());
            return this;
        }

        /** Adds a TLS address that uses the certificates of {@link #certificate}. */
        public Builder listenTls(String address) {
            return listenTls(address, ConfigValues.empty());
        }

        /** Like {@link #listenTls(String)}, with the given values of other keys below {@code listen[].tls}. */
        public Builder listenTls(String address, ConfigValues settings) {
            ConfigValues.Builder element = settings.toBuilder();
            element.put(ConfigKeys.LISTEN_ADDRESS, read(ConfigKeys.LISTEN_ADDRESS, address));
            listen.add(element.set(SharedTlsKeys.LISTEN_ENABLED, true).build());
            return this;
        }

        /**
         * Adds a certificate for the addresses of {@link #listenTls}. The values have keys of {@link SharedTlsKeys}.
         */
        public Builder certificate(ConfigValues certificate) {
            certificates.add(certificate);
            return this;
        }

        /** Adds an issuer of automatic certificates; the values have keys of {@link AcmeKeys}. */
        public Builder acmeIssuer(ConfigValues issuer) {
            acmeIssuers.add(issuer);
            return this;
        }

        /** Adds an access log in addition to others; the values have keys of {@link LogKeys}. */
        public Builder accessLog(ConfigValues log) {
            accessLogs.add(log);
            return this;
        }

        /**
         * Sets a log file in {@code directory} for each added access log without a path. Only logs whose target is a
         * file are changed.
         */
        public Builder accessLogsBelow(Path directory) {
            accessLogs.replaceAll(log -> LogConfig.withFileBelow(log, directory));
            return this;
        }

        /** Sets the directory of automatic certificates unless it is already set. */
        public Builder acmeStorageUnlessSet(Path directory) {
            if (values.build().find(AcmeKeys.STORAGE) == null) {
                values.set(AcmeKeys.STORAGE, directory);
            }
            return this;
        }

        /** Adds a {@code map} rule after the existing rules. */
        public Builder map(String from, String to) {
            return map(from, to, ConfigValues.empty());
        }

        /** Adds a {@code map} rule with its own settings; only keys with {@link ConfigKey#isPerRule} are allowed. */
        public Builder map(String from, String to, ConfigValues settings) {
            return rule(RemapVerb.MAP, from, to, settings);
        }

        /**
         * Adds a rule of any kind.
         *
         * @param settings keys with {@link ConfigKey#isPerRule}, and the keys of {@link RemapKeys} that this kind of
         *     rule allows
         */
        public Builder rule(RemapVerb verb, String from, String to, ConfigValues settings) {
            ConfigValues.Builder rule = settings.toBuilder();
            for (ConfigKey<?> key : ConfigCatalog.keys()) {
                if (rule.isSet(key) && !key.isPerRule() && !RemapKeys.OPTIONS.contains(key)) {
                    throw new IllegalArgumentException(key.path() + ": cannot be set for one rule");
                }
            }
            rule.put(RemapKeys.of(verb), read(RemapKeys.of(verb), from));
            rule.put(RemapKeys.TO, read(RemapKeys.TO, to));
            ConfigValues built = rule.build();
            RemapChecks.Fault fault = RemapChecks.faultOf(built);
            if (fault != null) {
                throw new IllegalArgumentException(verb.word() + " " + from + ": " + fault.message());
            }
            remap.add(built);
            return this;
        }

        /**
         * Adds a group of origins; rules refer to its name in {@link RemapKeys#ORIGINS}.
         *
         * @param settings other keys of {@link OriginGroupKeys} for the group itself
         * @param hosts URLs such as {@code http://10.0.0.1:8080}
         */
        public Builder origins(String name, ConfigValues settings, List<String> hosts) {
            List<ConfigValues> elements = new ArrayList<>();
            for (String host : hosts) {
                elements.add(element(OriginGroupKeys.HOST_URL, host).build());
            }
            return originGroup(name, settings, elements);
        }

        /** Adds a group of origins with settings for each host, such as {@link OriginGroupKeys#HOST_URL}. */
        public Builder originGroup(String name, ConfigValues settings, List<ConfigValues> hosts) {
            ConfigValues.Builder group = settings.toBuilder();
            group.put(OriginGroupKeys.NAME, read(OriginGroupKeys.NAME, name));
            group.put(OriginGroupKeys.HOSTS, List.copyOf(hosts));
            origins.add(group.build());
            return this;
        }

        /** Adds a directory for the disk cache. */
        public Builder storage(Path directory, long sizeBytes) {
            storage.add(ConfigValues.builder()
                    .set(ConfigKeys.STORAGE_PATH, directory.toAbsolutePath())
                    .set(ConfigKeys.STORAGE_SIZE, sizeBytes)
                    .build());
            return this;
        }

        /**
         * Adds a block device or file for the disk cache, with a directory for its index. Size 0 means the whole
         * device.
         */
        public Builder storage(Path deviceOrFile, long sizeBytes, Path indexDirectory) {
            ConfigValues.Builder storagePath = ConfigValues.builder()
                    .set(ConfigKeys.STORAGE_PATH, deviceOrFile.toAbsolutePath())
                    .set(ConfigKeys.STORAGE_INDEX_PATH, indexDirectory.toAbsolutePath());
            if (sizeBytes > 0) {
                storagePath.set(ConfigKeys.STORAGE_SIZE, sizeBytes);
            }
            storage.add(storagePath.build());
            return this;
        }

        /**
         * Sets an index directory below {@code directory} for each block device and file that has no index directory.
         */
        public Builder indexesBelow(Path directory) {
            storage.replaceAll(storagePath -> StorageConfig.withIndexBelow(storagePath, directory));
            return this;
        }

        /** Adds a volume with a share of every storage path for some hosts. The share is a text such as {@code 30%}. */
        public Builder volume(String name, String share, List<String> hosts) {
            ConfigValues.Builder volume = element(ConfigKeys.VOLUMES_SHARE, share);
            volume.put(ConfigKeys.VOLUMES_NAME, read(ConfigKeys.VOLUMES_NAME, name));
            if (!hosts.isEmpty()) {
                volume.put(ConfigKeys.VOLUMES_HOSTS, List.copyOf(hosts));
            }
            volumes.add(volume.build());
            return this;
        }

        /** Adds a cache rule; the values have keys of {@link CacheRulesKeys}. */
        public Builder cacheRule(ConfigValues rule) {
            cacheRules.add(rule);
            return this;
        }

        /** Replaces the rules for all requests; the values have keys of {@link RuleKeys}. */
        public Builder rules(List<ConfigValues> rules) {
            values.put(RuleKeys.RULES, List.copyOf(rules));
            return this;
        }

        /** Replaces the request limits for all requests; the values have keys of {@link RequestLimitKeys}. */
        public Builder requestLimits(List<ConfigValues> limits) {
            values.put(RequestLimitKeys.LIMITS, List.copyOf(limits));
            return this;
        }

        /** Adds a named filter; the values have keys of {@link FilterKeys}. */
        public Builder filter(ConfigValues filter) {
            filters.add(filter);
            return this;
        }

        /** Adds a filter for all requests: either a reference to a named filter or an unnamed filter. */
        public Builder accessFilter(ConfigValues filter) {
            accessFilters.add(filter);
            return this;
        }

        /** Adds domains with separate name servers; the values have keys of {@link DnsKeys}. */
        public Builder splitDns(ConfigValues split) {
            splitDns.add(split);
            return this;
        }

        /** Returns the configuration; the builder can be used again. */
        public ProxyConfig build() {
            values.put(ConfigKeys.LISTEN, List.copyOf(listen));
            values.put(ConfigKeys.REMAP, List.copyOf(remap));
            values.put(OriginGroupKeys.ORIGINS, List.copyOf(origins));
            values.put(ConfigKeys.STORAGE, List.copyOf(storage));
            values.put(ConfigKeys.VOLUMES, List.copyOf(volumes));
            values.put(CacheRulesKeys.CACHE_RULES, List.copyOf(cacheRules));
            values.put(FilterKeys.FILTERS, List.copyOf(filters));
            values.put(FilterKeys.ACCESS_FILTERS, List.copyOf(accessFilters));
            values.put(DnsKeys.SPLIT, List.copyOf(splitDns));
            values.put(SharedTlsKeys.CERTIFICATES, List.copyOf(certificates));
            values.put(AcmeKeys.ISSUERS, List.copyOf(acmeIssuers));
            if (!accessLogs.isEmpty()) {
                values.put(LogKeys.LOGS, List.copyOf(accessLogs));
            }
            return new ProxyConfig(values.build());
        }

        private static ConfigValues.Builder element(ConfigKey<?> key, String text) {
            ConfigValues.Builder element = ConfigValues.builder();
            element.put(key, read(key, text));
            return element;
        }

        private static Object read(ConfigKey<?> key, String text) {
            try {
                return readOf(key, text);
            } catch (InvalidValueException e) {
                throw new IllegalArgumentException(key.path() + ": " + e.problem(), e);
            }
        }

        private static <T> Object readOf(ConfigKey<T> key, String text) throws InvalidValueException {
            T value = key.read(text);
            if (value == null) {
                throw new InvalidValueException("no value");
            }
            return value;
        }
    }
}
