package io.millrace.proxy.config;

import static io.millrace.proxy.config.cache.CachePolicyKeys.*;
import static io.millrace.proxy.config.key.ConfigKeys.*;

import io.millrace.proxy.config.access.ClientLimitKeys;
import io.millrace.proxy.config.access.ErrorPageKeys;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.access.PurgeKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.access.TransparentKeys;
import io.millrace.proxy.config.access.UnixListenKeys;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.cache.CachePolicyKeys;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.cache.CompressionKeys;
import io.millrace.proxy.config.cache.OverloadKeys;
import io.millrace.proxy.config.dns.DnsKeys;
import io.millrace.proxy.config.edge.CorsKeys;
import io.millrace.proxy.config.edge.EsiKeys;
import io.millrace.proxy.config.edge.MirrorKeys;
import io.millrace.proxy.config.edge.SplitKeys;
import io.millrace.proxy.config.extension.ExtensionKeys;
import io.millrace.proxy.config.fleet.FleetKeys;
import io.millrace.proxy.config.geo.GeoKeys;
import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.AlarmKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.TraceKeys;
import io.millrace.proxy.config.origins.HostDatabaseKeys;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.origins.OriginLimitKeys;
import io.millrace.proxy.config.origins.TunnelKeys;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.tls.AcmeKeys;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import io.millrace.proxy.config.tls.ServerTlsKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.Suggestions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The list of all configuration keys, in the order of the reference page. Validation, descriptions, the reference page
 * and the JSON Schema are derived from it. Immutable.
 */
public final class ConfigCatalog {
    private static final List<ConfigKey<?>> KEYS = List.of(
            FileKeys.INCLUDE,
            LISTEN,
            LISTEN_ADDRESS,
            UnixListenKeys.MODE,
            UnixListenKeys.OWNER,
            ProxyProtocolKeys.LISTEN,
            TransparentKeys.LISTEN,
            Http2Keys.LISTEN,
            Http2Keys.LISTEN_CLEAR,
            SharedTlsKeys.LISTEN_ENABLED,
            LISTEN_CERTIFICATE,
            LISTEN_KEY,
            ServerTlsKeys.LISTEN.minVersion(),
            ServerTlsKeys.LISTEN.maxVersion(),
            ServerTlsKeys.LISTEN.ciphers(),
            ServerTlsKeys.LISTEN.groups(),
            ServerTlsKeys.LISTEN.clientCertificates(),
            ServerTlsKeys.LISTEN.caFile(),
            ServerTlsKeys.LISTEN.crlFile(),
            ServerTlsKeys.LISTEN.hstsMaxAge(),
            ServerTlsKeys.LISTEN.hstsIncludeSubdomains(),
            ServerTlsKeys.LISTEN.hstsPreload(),
            ServerTlsKeys.LISTEN.ocspStapling(),
            SharedTlsKeys.CERTIFICATES,
            SharedTlsKeys.CERTIFICATE,
            SharedTlsKeys.KEY,
            SharedTlsKeys.DIRECTORY,
            SharedTlsKeys.NAMES,
            ServerTlsKeys.NAME.minVersion(),
            ServerTlsKeys.NAME.maxVersion(),
            ServerTlsKeys.NAME.ciphers(),
            ServerTlsKeys.NAME.groups(),
            ServerTlsKeys.NAME.clientCertificates(),
            ServerTlsKeys.NAME.caFile(),
            ServerTlsKeys.NAME.crlFile(),
            ServerTlsKeys.NAME.hstsMaxAge(),
            ServerTlsKeys.NAME.hstsIncludeSubdomains(),
            ServerTlsKeys.NAME.hstsPreload(),
            ServerTlsKeys.NAME.ocspStapling(),
            SharedTlsKeys.NAME_HTTP2,
            SharedTlsKeys.DEFAULT_CERTIFICATE,
            SharedTlsKeys.UNKNOWN_NAME,
            SharedTlsKeys.CHECK_INTERVAL,
            SharedTlsKeys.TICKET_KEYS_FILE,
            ServerTlsKeys.GENERAL.minVersion(),
            ServerTlsKeys.GENERAL.maxVersion(),
            ServerTlsKeys.GENERAL.ciphers(),
            ServerTlsKeys.GENERAL.groups(),
            ServerTlsKeys.GENERAL.clientCertificates(),
            ServerTlsKeys.GENERAL.caFile(),
            ServerTlsKeys.GENERAL.crlFile(),
            ServerTlsKeys.GENERAL.hstsMaxAge(),
            ServerTlsKeys.GENERAL.hstsIncludeSubdomains(),
            ServerTlsKeys.GENERAL.hstsPreload(),
            ServerTlsKeys.GENERAL.ocspStapling(),
            SharedTlsKeys.CLIENT_SUBJECT_FIELD,
            AcmeKeys.NAMES,
            AcmeKeys.EMAIL,
            AcmeKeys.ACCEPT_TERMS,
            AcmeKeys.ISSUERS,
            AcmeKeys.DIRECTORY,
            AcmeKeys.EAB_KEY_ID,
            AcmeKeys.EAB_KEY_FILE,
            AcmeKeys.CA_FILE,
            AcmeKeys.CHALLENGE,
            AcmeKeys.DNS_HOOK,
            AcmeKeys.DNS_HOOK_TIMEOUT,
            AcmeKeys.PROFILE,
            AcmeKeys.KEY_TYPE,
            AcmeKeys.ISSUANCES_MAX,
            AcmeKeys.STORAGE,
            AcmeKeys.ASK,
            AcmeKeys.WAIT,
            AcmeKeys.PENDING_MAX,
            REMAP,
            RemapKeys.MAP,
            RemapKeys.REGEX_MAP,
            RemapKeys.MAP_WITH_RECV_PORT,
            RemapKeys.REGEX_MAP_WITH_RECV_PORT,
            RemapKeys.MAP_WITH_REFERER,
            RemapKeys.REVERSE_MAP,
            RemapKeys.REDIRECT,
            RemapKeys.REDIRECT_TEMPORARY,
            RemapKeys.REGEX_REDIRECT,
            RemapKeys.REGEX_REDIRECT_TEMPORARY,
            RemapKeys.TO,
            RemapKeys.STATUS,
            RemapKeys.REFERERS,
            RemapKeys.REFERER_REDIRECT,
            RemapKeys.REWRITE_SET_COOKIE,
            FilterKeys.RULE_FILTERS,
            RuleKeys.OF_REMAP,
            ExtensionKeys.OF_REMAP,
            RequestLimitKeys.OF_REMAP,
            ErrorPageKeys.OF_REMAP,
            SplitKeys.SPLIT,
            SplitKeys.SPLIT_BY,
            SplitKeys.NAME,
            SplitKeys.TO,
            SplitKeys.ORIGINS,
            SplitKeys.WEIGHT,
            SplitKeys.COOKIE,
            SplitKeys.SEPARATE_CACHE,
            RemapKeys.ORIGINS,
            RemapKeys.UNIX_SOCKET,
            RemapKeys.SITE,
            PRISTINE_HOST_HDR,
            NO_HOST_URL_REDIRECT,
            METHODS,
            OriginGroupKeys.ORIGINS,
            OriginGroupKeys.NAME,
            OriginGroupKeys.POLICY,
            OriginGroupKeys.HASH_KEY,
            OriginGroupKeys.RING_MODE,
            OriginGroupKeys.HOSTS,
            OriginGroupKeys.FLEET_TIER,
            OriginGroupKeys.HOST_URL,
            OriginGroupKeys.HOST_WEIGHT,
            OriginGroupKeys.HOST_BACKUP,
            OriginGroupKeys.HOST_SELF,
            OriginGroupKeys.HOST_UNIX_SOCKET,
            OriginGroupKeys.CONNECTIONS_MAX,
            OriginLimitKeys.GROUP_TOTAL,
            TunnelKeys.GROUP_MAX,
            OriginGroupKeys.QUEUE_MAX,
            OriginLimitKeys.GROUP_SOURCE,
            OriginGroupKeys.PARENT_IS_PROXY,
            OriginGroupKeys.GO_DIRECT,
            OriginGroupKeys.WHEN_ALL_DOWN,
            OriginGroupKeys.SLOW_START,
            OriginGroupKeys.RETRY_TRIES,
            OriginGroupKeys.RETRY_RESPONSE_CODES,
            OriginGroupKeys.RETRY_WITHIN,
            OriginGroupKeys.FAIL_THRESHOLD,
            OriginGroupKeys.RETRY_TIME,
            OriginGroupKeys.RETRY_TIME_MAX,
            OriginGroupKeys.MARKDOWN_CODES,
            OriginGroupKeys.HEALTH_PATH,
            OriginGroupKeys.HEALTH_HOST,
            OriginGroupKeys.HEALTH_INTERVAL,
            OriginGroupKeys.HEALTH_TIMEOUT,
            OriginGroupKeys.HEALTHY,
            OriginGroupKeys.UNHEALTHY,
            OriginGroupKeys.HEALTH_STATUS,
            Http2Keys.GROUP,
            OriginTlsKeys.GROUP.verify(),
            OriginTlsKeys.GROUP.caFile(),
            OriginTlsKeys.GROUP.certificate(),
            OriginTlsKeys.GROUP.key(),
            OriginTlsKeys.GROUP.sni(),
            OriginTlsKeys.GROUP.name(),
            OriginTlsKeys.GROUP.minVersion(),
            TunnelKeys.UPGRADE,
            ProxyProtocolKeys.OUT,
            FilterKeys.FILTERS,
            FilterKeys.NAME,
            FilterKeys.ACTION,
            FilterKeys.SRC_IP,
            FilterKeys.IN_IP,
            FilterKeys.METHODS,
            RuleKeys.RULES,
            RuleKeys.WHEN,
            RuleKeys.SET_RESPONSE_HEADER,
            RuleKeys.ADD_RESPONSE_HEADER,
            RuleKeys.REMOVE_RESPONSE_HEADER,
            RuleKeys.SET_STORED_HEADER,
            RuleKeys.ADD_STORED_HEADER,
            RuleKeys.REMOVE_STORED_HEADER,
            RuleKeys.SET_REQUEST_HEADER,
            RuleKeys.ADD_REQUEST_HEADER,
            RuleKeys.REMOVE_REQUEST_HEADER,
            RuleKeys.REWRITE_PATH,
            RuleKeys.REWRITE_QUERY,
            RuleKeys.REDIRECT_TO,
            RuleKeys.REDIRECT_STATUS,
            RuleKeys.ANSWER_STATUS,
            RuleKeys.ANSWER_BODY,
            RuleKeys.ANSWER_TYPE,
            RuleKeys.BYPASS,
            RuleKeys.TTL,
            ExtensionKeys.EXTENSIONS,
            ExtensionKeys.NAME,
            ExtensionKeys.JAR,
            ExtensionKeys.CLASS,
            ExtensionKeys.ON_ERROR,
            ExtensionKeys.DEADLINE,
            ExtensionKeys.CONFIG,
            PasswordKeys.ENABLED,
            PasswordKeys.FILE,
            PasswordKeys.REALM,
            PasswordKeys.WHEN,
            TokenKeys.ENABLED,
            TokenKeys.KEYS_FILE,
            TokenKeys.KEYS_URL,
            TokenKeys.ISSUER,
            TokenKeys.AUDIENCE,
            TokenKeys.REQUIRED_CLAIMS,
            TokenKeys.COOKIE,
            TokenKeys.FORWARD,
            TokenKeys.REALM,
            TokenKeys.CLOCK_SKEW,
            TokenKeys.WHEN,
            AuthorizeKeys.ENABLED,
            AuthorizeKeys.URL,
            AuthorizeKeys.METHOD,
            AuthorizeKeys.SEND_FIELDS,
            AuthorizeKeys.RECEIVE_FIELDS,
            AuthorizeKeys.CACHE_KEY,
            AuthorizeKeys.TTL,
            AuthorizeKeys.NEGATIVE_TTL,
            AuthorizeKeys.TIMEOUT,
            AuthorizeKeys.ON_ERROR,
            AuthorizeKeys.ON_LIMIT,
            AuthorizeKeys.FORWARD,
            AuthorizeKeys.WHEN,
            GeoKeys.DATABASE,
            GeoKeys.ASN_DATABASE,
            GeoKeys.COUNTRY_FIELD,
            SignedUrlKeys.ENABLED,
            SignedUrlKeys.KEYS,
            SignedUrlKeys.WHEN,
            SignedUrlKeys.URL,
            CorsKeys.ENABLED,
            CorsKeys.ORIGINS,
            CorsKeys.METHODS,
            CorsKeys.HEADERS,
            CorsKeys.EXPOSE,
            CorsKeys.CREDENTIALS,
            CorsKeys.MAX_AGE,
            MirrorKeys.TO,
            MirrorKeys.SAMPLE,
            MirrorKeys.BODIES,
            MirrorKeys.BODY_MAX,
            MirrorKeys.CONNECTIONS,
            MirrorKeys.QUEUE,
            OriginTlsKeys.MIRROR.verify(),
            OriginTlsKeys.MIRROR.caFile(),
            OriginTlsKeys.MIRROR.certificate(),
            OriginTlsKeys.MIRROR.key(),
            OriginTlsKeys.MIRROR.sni(),
            OriginTlsKeys.MIRROR.name(),
            OriginTlsKeys.MIRROR.minVersion(),
            EsiKeys.ENABLED,
            EsiKeys.WHEN,
            EsiKeys.MAX_DEPTH,
            EsiKeys.MAX_INCLUDES,
            EsiKeys.MAX_DOCUMENT_SIZE,
            EsiKeys.MAX_PAGE_SIZE,
            EsiKeys.INCLUDE_TIMEOUT,
            RequestLimitKeys.LIMITS,
            RequestLimitKeys.NAME,
            RequestLimitKeys.WHEN,
            RequestLimitKeys.KEY,
            RequestLimitKeys.RATE,
            RequestLimitKeys.BURST,
            RequestLimitKeys.DRY_RUN,
            ErrorPageKeys.PAGES,
            ErrorPageKeys.STATUS,
            ErrorPageKeys.FILE,
            ErrorPageKeys.CONTENT_TYPE,
            ErrorPageKeys.SET_RESPONSE_HEADER,
            FilterKeys.ACCESS_FILTERS,
            FilterKeys.BY_X_FORWARDED_FOR,
            ProxyProtocolKeys.ALLOW,
            ACCESS_TRUSTED_PROXIES,
            ACCESS_FORWARDED_FIELDS,
            ForwardProxyKeys.ENABLED,
            ForwardProxyKeys.ALLOW,
            ForwardProxyKeys.CONNECT_PORTS,
            ForwardProxyKeys.DENY_DESTINATIONS,
            ForwardProxyKeys.ALLOW_DESTINATIONS,
            ForwardProxyKeys.ORIGINS,
            VIA_NAME,
            VIA_RESPONSE,
            VIA_REQUEST,
            VIA_SERVER,
            PURGE_ALLOW,
            PurgeKeys.HISTORY,
            PurgeKeys.UNDO_WINDOW,
            FleetKeys.NAME,
            FleetKeys.SERVERS,
            FleetKeys.NODE,
            FleetKeys.TIER,
            FleetKeys.ADDRESS,
            FleetKeys.CREDENTIALS_FILE,
            FleetKeys.NKEY_FILE,
            FleetKeys.TOKEN_FILE,
            FleetKeys.CA_FILE,
            FleetKeys.CERTIFICATE,
            FleetKeys.KEY,
            FleetKeys.ON_GAP,
            FleetKeys.REPLICAS,
            FleetKeys.OUTBOX_SIZE,
            FleetKeys.CONFIG,
            FleetKeys.CONFIG_PUBLIC_KEY,
            STORAGE,
            STORAGE_PATH,
            STORAGE_SIZE,
            STORAGE_INDEX_PATH,
            STORAGE_FORMAT,
            STORAGE_DIRECT_WRITES,
            VOLUMES,
            VOLUMES_NAME,
            VOLUMES_SHARE,
            VOLUMES_HOSTS,
            VOLUMES_SCHEME,
            STORE_SYNC_INTERVAL,
            STORE_SEGMENT_SIZE,
            STORE_OPEN_WAIT,
            STORE_SCRUB_RATE,
            STORE_DISK_ADMISSION,
            CACHE_ENABLED,
            CACHE_RAM_SIZE,
            CACHE_RAM_ADMISSION,
            CACHE_REFILL_RATE,
            CACHE_CURVE,
            CACHE_PERMIT_PINNING,
            CACHE_MAX_OBJECT_SIZE,
            CachePolicyKeys.OBJECT_SHARE_MAX,
            CACHE_HEURISTIC_LM_FACTOR,
            CACHE_HEURISTIC_MIN_LIFETIME,
            CACHE_HEURISTIC_MAX_LIFETIME,
            CACHE_HEURISTIC_WITHOUT_LAST_MODIFIED,
            CACHE_MAX_STALE_AGE,
            CACHE_REQUIRED_HEADERS,
            CACHE_IGNORE_CLIENT_NO_CACHE,
            CACHE_IGNORE_CLIENT_MAX_AGE,
            TARGETED_CACHE_CONTROL,
            WHEN_TO_REVALIDATE,
            GUARANTEED_MIN_LIFETIME,
            GUARANTEED_MAX_LIFETIME,
            IMS_ON_CLIENT_NO_CACHE,
            IGNORE_SERVER_NO_CACHE,
            IGNORE_AUTHENTICATION,
            REUSE_WITH_AUTHORIZATION,
            GUESSED_LIFETIME_WITH_COOKIES,
            UNSHARED_FIELDS,
            RESPONSES_TO_COOKIES,
            LEAK_GUARD,
            DYNAMIC_URLS,
            VARIANTS_MAX,
            POST_METHOD,
            TAGS_FIELDS,
            TAGS_KEEP,
            NEGATIVE_CACHING_ENABLED,
            NEGATIVE_CACHING_LIFETIME,
            NEGATIVE_CACHING_LIST,
            NEGATIVE_REVALIDATING_ENABLED,
            NEGATIVE_REVALIDATING_LIFETIME,
            NEGATIVE_REVALIDATING_LIST,
            STALE_WHILE_REVALIDATE,
            FORCE_STALE_WHILE_REVALIDATE,
            STALE_IF_ERROR,
            FORCE_STALE_IF_ERROR,
            STALE_DESPITE_S_MAXAGE,
            OverloadKeys.LATENCY,
            OverloadKeys.ERRORS,
            OverloadKeys.CPU,
            OverloadKeys.MICRO_LIFETIME,
            OverloadKeys.STRETCH,
            OverloadKeys.STRETCH_MAX,
            OverloadKeys.HOLD,
            CacheKeyKeys.IGNORE_QUERY,
            CacheKeyKeys.INCLUDED_PARAMS,
            CacheKeyKeys.EXCLUDED_PARAMS,
            CacheKeyKeys.SORTED_PARAMS,
            CacheKeyKeys.SEND_WHOLE_QUERY,
            CacheKeyKeys.HOST,
            CacheKeyKeys.FIELDS,
            CacheKeyKeys.COOKIES,
            CacheKeyKeys.GENERATION,
            CACHE_COLLAPSE_WAIT,
            CACHE_READ_WHILE_WRITING,
            CACHE_UNCACHEABLE_TTL,
            CACHE_RANGE_LOOKUP,
            CACHE_RANGE_WRITE,
            CACHE_BACKGROUND_FILL_ACTIVE_TIMEOUT,
            CACHE_BACKGROUND_FILL_COMPLETED_THRESHOLD,
            CACHE_VOLUME,
            CACHE_FILL_WINDOW,
            CompressionKeys.ENABLED,
            CompressionKeys.ENCODINGS,
            CompressionKeys.TYPES,
            CompressionKeys.MIN_SIZE,
            CompressionKeys.MAX_SIZE,
            CompressionKeys.BR_LEVEL,
            CompressionKeys.ZSTD_LEVEL,
            CompressionKeys.GZIP_LEVEL,
            CompressionKeys.DICTIONARIES_ENABLED,
            CompressionKeys.DICTIONARIES_ENCODINGS,
            CompressionKeys.DICTIONARIES_MAX_SIZE,
            CompressionKeys.DICTIONARIES_MEMORY,
            CacheRulesKeys.CACHE_RULES,
            CacheRulesKeys.DEST_DOMAIN,
            CacheRulesKeys.DEST_HOST,
            CacheRulesKeys.HOST_REGEX,
            CacheRulesKeys.URL_REGEX,
            CacheRulesKeys.PREFIX,
            CacheRulesKeys.SUFFIX,
            CacheRulesKeys.METHOD,
            CacheRulesKeys.SCHEME,
            CacheRulesKeys.PORT,
            CacheRulesKeys.SRC_IP,
            CacheRulesKeys.TIME,
            CacheRulesKeys.ACTION,
            CacheRulesKeys.COOKIES,
            CacheRulesKeys.PIN_IN_CACHE,
            CacheRulesKeys.REVALIDATE,
            CacheRulesKeys.TTL_IN_CACHE,
            LOG_ACCESS_ENABLED,
            LOG_ACCESS_PATH,
            LOG_ACCESS_FORMAT,
            LogKeys.SINGLE_LOG_FIELDS,
            LOG_ACCESS_ROTATE_SIZE,
            LOG_ACCESS_ROTATE_INTERVAL,
            LOG_ACCESS_ROTATE_KEEP,
            LogKeys.SLOW_THRESHOLD,
            LogKeys.KEPT_REQUESTS,
            LogKeys.LOGS,
            LogKeys.NAME,
            LogKeys.FORMAT,
            LogKeys.FIELDS,
            LogKeys.FILTER,
            LogKeys.SAMPLE,
            LogKeys.SAMPLE_BY,
            LogKeys.TARGET,
            LogKeys.PATH,
            LogKeys.ROTATE_SIZE,
            LogKeys.ROTATE_INTERVAL,
            LogKeys.ROTATE_KEEP,
            LogKeys.ADDRESS,
            LogKeys.FACILITY,
            LogKeys.SEVERITY,
            LogKeys.APP_NAME,
            LogKeys.CA_FILE,
            LogKeys.CERTIFICATE,
            LogKeys.KEY,
            LogKeys.JOURNALD_SOCKET,
            TraceKeys.ENDPOINT,
            TraceKeys.SAMPLE,
            TraceKeys.SLOW_THRESHOLD,
            TraceKeys.SERVICE_NAME,
            TraceKeys.QUERY,
            TraceKeys.COMPRESSION,
            TraceKeys.HEADERS_FILE,
            TraceKeys.CA_FILE,
            TraceKeys.CERTIFICATE,
            TraceKeys.KEY,
            AlarmKeys.CERTIFICATE_DAYS,
            AlarmKeys.COMMAND,
            AlarmKeys.TIMEOUT,
            AlarmKeys.RUNS_PER_MINUTE,
            AlarmKeys.ADDRESS,
            AlarmKeys.FACILITY,
            AlarmKeys.APP_NAME,
            AlarmKeys.CA_FILE,
            AlarmKeys.CERTIFICATE,
            AlarmKeys.KEY,
            ADMIN_SOCKET,
            ADMIN_LISTEN,
            AdminKeys.TOKEN_FILE,
            AdminKeys.TOKENS,
            AdminKeys.TOKEN_NAME,
            AdminKeys.TOKEN_SECRET,
            AdminKeys.TOKEN_ROLE,
            AdminKeys.TOKEN_SITES,
            AdminKeys.TOKEN_KINDS,
            AdminKeys.TOKEN_RATE,
            AdminKeys.CERTIFICATE,
            AdminKeys.KEY,
            AdminKeys.CA_FILE,
            AdminKeys.CRL_FILE,
            AdminKeys.HISTORY,
            AdminKeys.HOSTS,
            FileKeys.HISTORY,
            FileKeys.MODE,
            TIMEOUTS_CLIENT_HEADER,
            TIMEOUTS_CLIENT_KEEP_ALIVE,
            TIMEOUTS_CLIENT_BODY,
            ClientLimitKeys.BODY_WINDOW,
            TIMEOUTS_ORIGIN_CONNECT,
            TIMEOUTS_ORIGIN_FIRST_BYTE,
            TIMEOUTS_ORIGIN_IDLE,
            TunnelKeys.IDLE,
            TunnelKeys.MAX,
            OriginLimitKeys.TRANSACTION,
            TIMEOUTS_DRAIN,
            LIMITS_REQUEST_LINE,
            LIMITS_REQUEST_HEADER,
            LIMITS_RESPONSE_HEADER,
            LIMITS_REQUEST_BODY,
            ClientLimitKeys.REQUEST_BODY_RATE,
            ProxyProtocolKeys.HEADER_MAX,
            LIMITS_CONNECTIONS,
            LIMITS_REQUESTS_PER_CONNECTION,
            LIMITS_MEMORY_IN_FLIGHT,
            EsiKeys.MEMORY,
            LIMITS_RESPONSE_RATE_MIN,
            ClientLimitKeys.REQUESTS,
            ClientLimitKeys.TUNNELS,
            ClientLimitKeys.CONNECTIONS,
            ClientLimitKeys.EXEMPT,
            Http2Keys.STREAMS,
            Http2Keys.HEADER_LIST,
            Http2Keys.RESETS,
            Http2Keys.STREAM_FAULTS,
            Http2Keys.CONTROL_FRAMES,
            Http2Keys.STREAM_WINDOW,
            ORIGIN_CONNECTIONS_MAX,
            OriginLimitKeys.TOTAL,
            TunnelKeys.ORIGIN_MAX,
            ClientLimitKeys.REQUEST_BUFFER,
            ORIGIN_QUEUE_MAX,
            ORIGIN_QUEUE_WAIT,
            ORIGIN_KEEP_ALIVE,
            ORIGIN_KEEP_ALIVE_MAX,
            OriginLimitKeys.SOURCE,
            HostDatabaseKeys.FAIL_THRESHOLD,
            HostDatabaseKeys.RETRY_TIME,
            HostDatabaseKeys.RETRY_TIME_MAX,
            Http2Keys.ORIGIN,
            Http2Keys.ORIGIN_STREAMS,
            Http2Keys.ORIGIN_STREAM_WINDOW,
            OriginTlsKeys.GENERAL.verify(),
            OriginTlsKeys.GENERAL.caFile(),
            OriginTlsKeys.GENERAL.certificate(),
            OriginTlsKeys.GENERAL.key(),
            OriginTlsKeys.GENERAL.sni(),
            OriginTlsKeys.GENERAL.name(),
            OriginTlsKeys.GENERAL.minVersion(),
            DnsKeys.NAME_SERVERS,
            DnsKeys.SPLIT,
            DnsKeys.SPLIT_DOMAINS,
            DnsKeys.SPLIT_NAME_SERVERS,
            DnsKeys.SRV,
            DnsKeys.HOSTS_FILE,
            DnsKeys.PREFER,
            DnsKeys.QUERY_TIMEOUT,
            DnsKeys.TTL_MIN,
            DnsKeys.TTL_MAX,
            DnsKeys.NEGATIVE_TTL,
            DnsKeys.SERVE_STALE_FOR,
            DnsKeys.DOWN_TIME,
            DnsKeys.HOSTS_MAX,
            DnsKeys.IN_FLIGHT_MAX,
            WORKER_JAVA_HOME,
            WORKER_EVENT_LOOPS,
            WORKER_TRANSPORT,
            WORKER_FAST_LANE,
            WORKER_HEAP_SIZE,
            WORKER_HEARTBEAT_INTERVAL,
            WORKER_HEARTBEAT_TIMEOUT,
            WORKER_WARM_UP_LIMIT);

    private static final Map<String, ConfigKey<?>> BY_PATH = new LinkedHashMap<>();

    /** Sections in the order of the reference page, each with its description. */
    private static final Map<String, String> SECTIONS = new LinkedHashMap<>();

    static {
        for (ConfigKey<?> key : KEYS) {
            if (BY_PATH.put(key.path(), key) != null) {
                throw new IllegalStateException("two entries for " + key.path());
            }
        }
        SECTIONS.put("include", "Further files with rules.");
        SECTIONS.put("limits.per_client", "Limits for each client; see docs/guide/access.md.");
        SECTIONS.put("listen", "Addresses on which clients connect.");
        SECTIONS.put("http2", "Limits of clients' HTTP/2 connections, see [https.md](../guide/https.md#http2).");
        SECTIONS.put(
                "listen[].tls",
                "TLS on this address. `tls: {}` uses `tls.certificates`; an address without tls has no TLS.");
        SECTIONS.put("tls", "Certificates that addresses share, see [https.md](../guide/https.md).");
        SECTIONS.put("tls.hsts", "The field Strict-Transport-Security (RFC 6797) in responses over TLS.");
        SECTIONS.put("tls.certificates[].hsts", "As tls.hsts, for these names.");
        SECTIONS.put("listen[].tls.hsts", "As tls.hsts, for this address.");
        SECTIONS.put("tls.acme", "Certificates that issuers sign automatically, see [https.md](../guide/https.md).");
        SECTIONS.put("tls.acme.on_demand", "Certificates for names that are known only from a TLS handshake.");
        SECTIONS.put("remap", "Rules that map URLs to origins.");
        SECTIONS.put(
                "origins", "Groups of hosts that answer for the same URLs, see [origins.md](../guide/origins.md).");
        SECTIONS.put("origins[].hosts_from", "Source of further hosts of the group: live nodes of the fleet.");
        SECTIONS.put("origins[].retry", "Repetition of a request at another host.");
        SECTIONS.put("origins[].markdown", "Conditions under which a failing host gets no requests for some time.");
        SECTIONS.put("origins[].health_check", "Regular checks of the hosts.");
        SECTIONS.put(
                "origins[].tls", "TLS to the hosts of the group, see [https.md](../guide/https.md#tls-to-origins).");
        SECTIONS.put("filters", "Named filters for requests.");
        SECTIONS.put(
                "rules",
                "Changes of requests and responses that a condition selects, see [rules.md](../guide/rules.md).");
        SECTIONS.put("rules[].rewrite", "The URL that the origin gets.");
        SECTIONS.put("rules[].redirect", "Redirection of the client.");
        SECTIONS.put("rules[].answer", "A response of this proxy instead of cache and origin.");
        SECTIONS.put(
                "extensions",
                "Code in Java that takes part in requests, see [extensions.md](../guide/extensions.md). The keys of"
                        + " `config` are those of the extension.");
        SECTIONS.put("basic_auth", "Passwords of users (RFC 7617), see [access.md](../guide/access.md#passwords).");
        SECTIONS.put(
                "cors", "Scripts of other origins (CORS), see [access.md](../guide/access.md#cross-origin-requests).");
        SECTIONS.put(
                "mirror",
                "Copies of requests to another origin, see [origins.md](../guide/origins.md#mirrored-requests).");
        SECTIONS.put("mirror.tls", "TLS to that origin, see [origins.md](../guide/origins.md#mirrored-requests).");
        SECTIONS.put(
                EsiKeys.SECTION,
                "Pages that are assembled from fragments (ESI); an empty section, `esi: {}`, turns it on. See"
                        + " [esi.md](../guide/esi.md).");
        SECTIONS.put("jwt", "Tokens of users (RFC 7519), see [access.md](../guide/access.md#tokens).");
        SECTIONS.put(
                "authorize",
                "A server that decides about requests, see"
                        + " [access.md](../guide/access.md#external-authorisation).");
        SECTIONS.put(
                "geo", "Countries and networks of clients, see [rules.md](../guide/rules.md#countries-and-networks).");
        SECTIONS.put("signed_urls", "Signatures of URLs, see [access.md](../guide/access.md#signed-urls).");
        SECTIONS.put(
                "request_limits",
                "Limits of the rate of requests, see [access.md](../guide/access.md#request-rate-limits).");
        SECTIONS.put(
                "error_pages",
                "Pages for errors of this proxy, see"
                        + " [configuring-sites.md](../guide/configuring-sites.md#error-pages).");
        SECTIONS.put("forward_proxy", "Forwarding of requests to hosts that no rule maps; off by default.");
        SECTIONS.put("access", "Access of clients, trusted proxies, and client data for origins.");
        SECTIONS.put("via", "Fields that identify this proxy in requests and responses.");
        SECTIONS.put("purge", "Purges, see [purging.md](../guide/purging.md).");
        SECTIONS.put("fleet", "Nodes that share purges over NATS JetStream, see [fleet.md](../guide/fleet.md).");
        SECTIONS.put("fleet.tls", "TLS to the NATS servers; needs URLs with tls://.");
        SECTIONS.put("storage", "The cache on disk.");
        SECTIONS.put("volumes", "Shares of the cache on disk.");
        SECTIONS.put("store", "Writing and opening of the cache on disk.");
        SECTIONS.put("cache", "Storing, lifetimes and size of the cache.");
        SECTIONS.put("cache.key", "Content of cache keys. Parts of a URL that keys omit are not sent to the origin.");
        SECTIONS.put(
                "cache.overload",
                "Longer use of stored responses while an origin or this proxy is overloaded. Off unless one of the limits"
                        + " latency, errors and cpu is set.");
        SECTIONS.put("cache.range", "Requests with a Range field.");
        SECTIONS.put("cache.tags", "Tags of responses, see [purging.md](../guide/purging.md#tags).");
        SECTIONS.put("cache.negative_caching", "Storing of responses without an explicit lifetime, such as errors.");
        SECTIONS.put("cache.negative_revalidating", "Responses that count as a failure of the origin.");
        SECTIONS.put(
                CompressionKeys.SECTION,
                "Compression of responses; an empty section, `compression: {}`, turns it on. See"
                        + " [caching.md](../guide/caching.md#compression).");
        SECTIONS.put(
                CompressionKeys.DICTIONARIES,
                "Compression with dictionaries, see [caching.md](../guide/caching.md#compression-dictionaries).");
        SECTIONS.put(
                "cache_rules",
                "Settings for single sites, paths, clients and times of day. An element has at least one condition"
                        + " (the keys up to `time`) and at least one setting (the keys after it).");
        SECTIONS.put("log", "Logs.");
        SECTIONS.put("log.access", "The access log: one line for each request.");
        SECTIONS.put(
                "log.access[].syslog",
                "The receiver of the target syslog, see [operating.md](../guide/operating.md#several-access-logs).");
        SECTIONS.put("log.access[].journald", "The socket of the target journald.");
        SECTIONS.put("traces", "Spans of requests for OpenTelemetry, see [traces.md](../guide/traces.md).");
        SECTIONS.put("traces.tls", "TLS to the collector.");
        SECTIONS.put(
                "alarms",
                "Actions for states that need an operator, see [operating.md](../guide/operating.md#alarms).");
        SECTIONS.put("alarms.exec", "A program that is run for each change of an alarm.");
        SECTIONS.put("alarms.syslog", "The receiver of a message for each change of an alarm.");
        SECTIONS.put("admin", "The admin API, which millctl uses.");
        SECTIONS.put("admin.tls", "TLS on admin.listen, see [operating.md](../guide/operating.md#tls-and-clear-text).");
        SECTIONS.put("file_mode", "Permissions of cache, logs and state.");
        SECTIONS.put("timeouts", "Time limits of each step.");
        SECTIONS.put("limits", "Limits for requests, responses, clients and memory.");
        SECTIONS.put("origin", "Connections to origins.");
        SECTIONS.put(
                "origin.markdown",
                "Conditions under which a failing origin without a group is marked down. Meanwhile, stale responses are"
                        + " served without a request to it.");
        SECTIONS.put("origin.tls", "TLS to origins, see [https.md](../guide/https.md#tls-to-origins).");
        SECTIONS.put("dns", "Lookup of the addresses of origins.");
        SECTIONS.put("worker", "The worker process, as the launcher starts it.");
    }

    private ConfigCatalog() {}

    /** Returns every key, in the order of the reference page. */
    public static List<ConfigKey<?>> keys() {
        return KEYS;
    }

    /**
     * Returns the key with this full path, such as {@code cache.ram_size} or {@code storage[].size}. Returns null if
     * there is none.
     */
    public static @Nullable ConfigKey<?> find(String path) {
        return BY_PATH.get(path);
    }

    /**
     * Returns the key with this path and all keys below it. The path may be a section or a list. Empty if there are
     * none.
     */
    public static List<ConfigKey<?>> below(String path) {
        return KEYS.stream()
                .filter(key -> key.path().equals(path)
                        || key.path().startsWith(path + ".")
                        || key.path().startsWith(path + "[]."))
                .toList();
    }

    /**
     * Returns the full path of the key that a mistyped path probably means. This is the most similar path, or a key in
     * another section with the same last part if the most similar path differs by more than two characters. Null if
     * there is neither.
     */
    public static @Nullable String suggest(String path) {
        String closestPath = Suggestions.closest(path, BY_PATH.keySet());
        String name = path.substring(path.lastIndexOf('.') + 1);
        for (ConfigKey<?> key : KEYS) {
            if (key.name().equals(name) && (closestPath == null || Suggestions.distance(path, closestPath) > 2)) {
                return key.path();
            }
        }
        return closestPath;
    }

    /** Returns the description of a section; null if there is no such section. */
    static @Nullable String sectionSentence(String path) {
        return SECTIONS.get(path);
    }

    /** Returns the description of each section by path, in the order of the reference page. */
    public static Map<String, String> sections() {
        return SECTIONS;
    }
}
