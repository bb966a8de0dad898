package io.millrace.proxy.config.key;

import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.SystemMemory;
import io.millrace.proxy.observe.log.AccessLogFormat;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The general configuration keys, one constant per setting. The description of each constant is its documentation.
 * Grouped by section, in the order of the reference page. {@code []} in a path denotes an element of a list.
 */
public final class ConfigKeys {
    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;
    private static final long GIB = 1024 * MIB;
    private static final long TIB = 1024 * GIB;
    /** Upper bound of freshness lifetimes and stale times: ten years. */
    private static final Duration LIFETIME_MAX = Duration.ofDays(3650);

    // listen
    public static final ConfigKey<List<ConfigValues>> LISTEN = ConfigKey.builder("listen", ValueType.LIST)
            .rolling()
            .atsName("proxy.config.http.server_ports")
            .description(
                    "Addresses on which clients are accepted; an element is an address, or a section with address and"
                            + " settings such as tls.");
    public static final ConfigKey<ListenAddress> LISTEN_ADDRESS = ConfigKey.builder(
                    "listen[].address", ValueType.LISTEN_ADDRESS)
            .rolling()
            .required()
            .description("Local address and port; port 0 lets the system choose. Or a Unix socket, as"
                    + " unix:/run/millrace/http.sock.");
    public static final ConfigKey<Path> LISTEN_CERTIFICATE = ConfigKey.builder(
                    "listen[].tls.certificate", ValueType.PATH)
            .rolling()
            .atsName("ssl_cert_name")
            .description("PEM file with the certificate chain, the server's own first; by default, tls.certificates are"
                    + " used.");
    public static final ConfigKey<Path> LISTEN_KEY = ConfigKey.builder("listen[].tls.key", ValueType.PATH)
            .rolling()
            .atsName("ssl_key_name")
            .description("PEM file with the private key of the certificate; certificate and key must be set together.");

    // remap
    public static final ConfigKey<List<ConfigValues>> REMAP = ConfigKey.builder("remap", ValueType.LIST)
            .atsName("remap.config")
            .description(
                    "Rules from client URLs to origins and to other URLs, see docs/guide/configuring-sites.md; URLs"
                            + " without a rule are answered with 404.");
    public static final ConfigKey<Boolean> PRISTINE_HOST_HDR = ConfigKey.builder("pristine_host_hdr", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.url_remap.pristine_host_hdr")
            .description("Whether origins receive the client's Host field instead of the host of remap[].to; with"
                    + " cache.key.host, they receive that host.");
    public static final ConfigKey<String> NO_HOST_URL_REDIRECT = ConfigKey.builder(
                    "no_host_url_redirect", ValueType.URL)
            .atsName("proxy.config.header.parse.no_host_url_redirect")
            .description(
                    "Redirection target, with 302, for HTTP/1.0 requests without Host that no rule maps; without this"
                            + " key they are answered with 404.");
    public static final ConfigKey<List<String>> METHODS = ConfigKey.builder("methods", ValueType.NAMES)
            .perRule()
            .atsName("@method")
            .description(
                    "Permitted methods; any other is answered with 405. The default is all but TRACE and CONNECT.");

    // access
    public static final ConfigKey<List<String>> ACCESS_TRUSTED_PROXIES = ConfigKey.builder(
                    "access.trusted_proxies", ValueType.NAMES)
            .description("Addresses and ranges, such as 10.0.0.0/8, of proxies in front of this one; unix: stands"
                    + " for proxies that connect by a Unix socket. X-Forwarded-*,"
                    + " Forwarded, X-Original-URL and similar fields of other clients are not sent to the"
                    + " origin.");
    public static final ConfigKey<List<String>> ACCESS_FORWARDED_FIELDS = ConfigKey.builder(
                    "access.forwarded_fields", ValueType.NAMES)
            .defaultsTo(List.of("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"))
            .atsName("proxy.config.http.insert_squid_x_forwarded_for, proxy.config.http.insert_forwarded, "
                    + "proxy.config.http.insert_client_ip")
            .description("Fields that tell the origin about the client: x-forwarded-for, x-forwarded-proto,"
                    + " x-forwarded-host, forwarded, client-ip; or none.");

    // via
    public static final ConfigKey<String> VIA_NAME = ConfigKey.builder("via.name", ValueType.STRING)
            .defaultsTo("millrace")
            .atsName("proxy.config.proxy_name")
            .description("Name of this proxy in Via and Cache-Status. Proxies that send requests to each other need"
                    + " different names: a request whose Via has this name is refused as a loop.");
    public static final ConfigKey<ViaConfig.Level> VIA_RESPONSE = ConfigKey.builder(
                    "via.response", ValueType.word(ViaConfig.Level.class, true))
            .defaultsTo(ViaConfig.Level.NAME)
            .atsName("proxy.config.http.insert_response_via_str")
            .description(
                    "Content of Via in responses: nothing (none), the name, six letters for the result (short), all"
                            + " letters (full), or all letters and the client's protocols (stack).");
    public static final ConfigKey<ViaConfig.Level> VIA_REQUEST = ConfigKey.builder(
                    "via.request", ValueType.word(ViaConfig.Level.class, true))
            .defaultsTo(ViaConfig.Level.NAME)
            .atsName("proxy.config.http.insert_request_via_str")
            .description("Content of Via in requests to origins, with the values of via.response. With none, loops"
                    + " through other proxies are not detected.");
    public static final ConfigKey<ViaConfig.ServerField> VIA_SERVER = ConfigKey.builder(
                    "via.server", ValueType.word(ViaConfig.ServerField.class, false))
            .defaultsTo(ViaConfig.ServerField.PASS)
            .atsName("proxy.config.http.response_server_enabled")
            .description("Server field of responses: that of the origin (pass); that of the origin or, if missing, of"
                    + " this proxy (missing); that of this proxy (own); or none (off). A change applies to responses"
                    + " that are fetched afterwards.");

    // purge
    public static final ConfigKey<List<String>> PURGE_ALLOW = ConfigKey.builder("purge.allow", ValueType.NAMES)
            .defaultsTo(List.of("127.0.0.0/8", "::1"))
            .perRule()
            .atsName("ip_allow.yaml (PURGE)")
            .description("Addresses and ranges, such as 10.0.0.0/8, of clients that may send PURGE and BAN; or none.");

    // storage
    public static final ConfigKey<List<ConfigValues>> STORAGE = ConfigKey.builder("storage", ValueType.LIST)
            .rolling()
            .atsName("storage.config")
            .description(
                    "Storage paths of the cache on disk. Without this key, millrace run uses 1 GiB in cache/ of the state"
                            + " directory, and an embedded proxy uses RAM only. []: RAM only.");
    public static final ConfigKey<Path> STORAGE_PATH = ConfigKey.builder("storage[].path", ValueType.PATH)
            .rolling()
            .required()
            .description("Directory, block device or file in which responses are stored. A missing path becomes a"
                    + " directory. A relative path starts at the directory of the configuration file that names it.");
    public static final ConfigKey<Long> STORAGE_SIZE = ConfigKey.builder("storage[].size", ValueType.SIZE)
            .within(MIB, 256 * TIB)
            .rolling()
            .description(
                    "Disk space of the storage path, allocated at its first use. Required except for a block device,"
                            + " which is used to its end by default.");
    public static final ConfigKey<Path> STORAGE_INDEX_PATH = ConfigKey.builder("storage[].index_path", ValueType.PATH)
            .rolling()
            .description(
                    "For a block device or a file: the directory of its index, by default below storage/ in the state"
                            + " directory. With this key a missing path becomes a file.");
    public static final ConfigKey<Boolean> STORAGE_FORMAT = ConfigKey.builder("storage[].format", ValueType.BOOLEAN)
            .defaultsTo(false)
            .rolling()
            .description("Permits overwriting a block device or file that has other content, once. Remove the key"
                    + " afterwards.");
    public static final ConfigKey<StorageConfig.DirectWrites> STORAGE_DIRECT_WRITES = ConfigKey.builder(
                    "storage[].direct_writes", ValueType.word(StorageConfig.DirectWrites.class, false))
            .defaultsTo(StorageConfig.DirectWrites.OFF)
            .rolling()
            .description(
                    "Writes past the page cache (O_DIRECT): never (off), on block devices that permit them (auto), or"
                            + " always (on; an error if the file system refuses them).");

    // volumes
    public static final ConfigKey<List<ConfigValues>> VOLUMES = ConfigKey.builder("volumes", ValueType.LIST)
            .rolling()
            .atsName("volume.config")
            .description("Shares of every storage path for some hosts or rules. Other responses cannot evict"
                    + " responses in these shares; the remaining space is for all other responses.");
    public static final ConfigKey<String> VOLUMES_NAME = ConfigKey.builder("volumes[].name", ValueType.STRING)
            .rolling()
            .required()
            .atsName("volume=")
            .description(
                    "Name of the volume: lower-case letters, digits, '-' and '_'; also the name of its directory below"
                            + " each storage path.");
    public static final ConfigKey<Double> VOLUMES_SHARE = ConfigKey.builder("volumes[].share", ValueType.PERCENT)
            .within(0.0001, 0.99)
            .rolling()
            .required()
            .atsName("size=")
            .description("Share of the size of each storage path.");
    public static final ConfigKey<List<String>> VOLUMES_HOSTS = ConfigKey.builder("volumes[].hosts", ValueType.NAMES)
            .rolling()
            .atsName("hosting.config")
            .description("Hosts in client URLs whose responses are stored in this volume; .example.com or"
                    + " *.example.com means all hosts below it.");
    public static final ConfigKey<VolumeShareConfig.Scheme> VOLUMES_SCHEME = ConfigKey.builder(
                    "volumes[].scheme", ValueType.word(VolumeShareConfig.Scheme.class, false))
            .rolling()
            .atsName("scheme=")
            .description("Scheme of the client URLs whose responses are stored in this volume. Without hosts, it"
                    + " applies to all hosts that no other volume lists.");

    // store
    public static final ConfigKey<Duration> STORE_SYNC_INTERVAL = ConfigKey.builder(
                    "store.sync_interval", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(5))
            .rolling()
            .atsName("proxy.config.cache.dir.sync_frequency")
            .description("Longest time that written objects stay unsynced; a power failure loses at most this much.");
    public static final ConfigKey<Long> STORE_SEGMENT_SIZE = ConfigKey.builder("store.segment_size", ValueType.SIZE)
            .within(4 * MIB, GIB)
            .orZero()
            .defaultsTo(0L)
            .rolling()
            .description(
                    "Size of the parts of a volume that are written and reclaimed as a whole; 0 derives it from the"
                            + " volume's size.");
    public static final ConfigKey<Duration> STORE_OPEN_WAIT = ConfigKey.builder("store.open_wait", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(2))
            .rolling()
            .atsName("proxy.config.http.wait_for_cache")
            .description("How long a request waits for the index of a volume, during the start, before it goes to the"
                    + " origin.");

    public static final ConfigKey<Long> STORE_SCRUB_RATE = ConfigKey.builder("store.scrub_rate", ValueType.SIZE)
            .within(64 * KIB, 16 * GIB)
            .orZero()
            .defaultsTo(8 * MIB)
            .description(
                    "Bytes of stored records that are verified per second in the background, over all volumes. Each"
                            + " byte is verified at most once a day. 0 turns this off.");
    public static final ConfigKey<StoreSettings.DiskAdmission> STORE_DISK_ADMISSION = ConfigKey.builder(
                    "store.disk_admission", ValueType.word(StoreSettings.DiskAdmission.class, false))
            .defaultsTo(StoreSettings.DiskAdmission.FREQUENCY)
            .rolling()
            .description("New responses that a full volume stores. always: all. second_hit: those requested before."
                    + " frequency: those requested so often that another request is likely.");

    // cache
    public static final ConfigKey<Boolean> CACHE_ENABLED = ConfigKey.builder("cache.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.cache.http")
            .description("Whether responses are stored and reused; false forwards every request.");
    public static final ConfigKey<Long> CACHE_RAM_SIZE = ConfigKey.builder("cache.ram_size", ValueType.SIZE)
            .within(MIB, 16 * TIB)
            .defaultsTo(SystemMemory.quarterBytes(), "a quarter of the memory")
            .rolling()
            .atsName("proxy.config.cache.ram_cache.size")
            .description("Memory for stored bodies outside the Java heap: the RAM tier, bodies being stored, and bodies"
                    + " being read. The last two may take up to a quarter each (at least 16 MiB). The default"
                    + " respects the memory limit of a container.");
    public static final ConfigKey<StoreSettings.RamAdmission> CACHE_RAM_ADMISSION = ConfigKey.builder(
                    "cache.ram_admission", ValueType.word(StoreSettings.RamAdmission.class, false))
            .defaultsTo(StoreSettings.RamAdmission.FREQUENCY)
            .atsName("proxy.config.cache.ram_cache.use_seen_filter")
            .description(
                    "New responses that the full RAM tier keeps. always: all, and the least recently requested response is"
                            + " evicted. frequency: those requested more often than the response that would be evicted.");
    public static final ConfigKey<Long> CACHE_REFILL_RATE = ConfigKey.builder("cache.refill_rate", ValueType.SIZE)
            .within(MIB, TIB)
            .orZero()
            .defaultsTo(64 * MIB)
            .rolling()
            .description(
                    "Bytes per second that are read after a start to load the most requested responses into RAM again;"
                            + " requests have priority; 0 turns this off.");
    public static final ConfigKey<Boolean> CACHE_CURVE = ConfigKey.builder("cache.curve", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description("Whether the hit ratios of other sizes of the RAM tier are estimated, for millctl cache curve."
                    + " Uses at most 8 MiB of heap and 1 % of a core.");
    public static final ConfigKey<Boolean> CACHE_PERMIT_PINNING = ConfigKey.builder(
                    "cache.permit_pinning", ValueType.BOOLEAN)
            .defaultsTo(true)
            .rolling()
            .atsName("proxy.config.cache.permit.pinning")
            .description(
                    "Whether pin_in_cache of cache_rules has an effect on disk; false ignores all pins, also those of"
                            + " responses stored before.");
    public static final ConfigKey<Long> CACHE_MAX_OBJECT_SIZE = ConfigKey.builder(
                    "cache.max_object_size", ValueType.SIZE)
            .within(0L, TIB)
            .defaultsTo(0L)
            .perRule()
            .atsName("proxy.config.cache.max_doc_size")
            .description("Longer responses are forwarded and not stored; 0 sets no limit besides the store's own.");
    public static final ConfigKey<Double> CACHE_HEURISTIC_LM_FACTOR = ConfigKey.builder(
                    "cache.heuristic_lm_factor", ValueType.DECIMAL)
            .within(0.0, 1.0)
            .defaultsTo(0.1)
            .perRule()
            .atsName("proxy.config.http.cache.heuristic_lm_factor")
            .description(
                    "Share of the time since Last-Modified that a response without explicit lifetime stays fresh.");
    public static final ConfigKey<Duration> CACHE_HEURISTIC_MIN_LIFETIME = ConfigKey.builder(
                    "cache.heuristic_min_lifetime", ValueType.DURATION)
            .within(Duration.ZERO, LIFETIME_MAX)
            .defaultsTo(Duration.ofHours(1))
            .wholeSeconds()
            .perRule()
            .atsName("proxy.config.http.cache.heuristic_min_lifetime")
            .description("Shortest heuristic freshness lifetime.");
    public static final ConfigKey<Duration> CACHE_HEURISTIC_MAX_LIFETIME = ConfigKey.builder(
                    "cache.heuristic_max_lifetime", ValueType.DURATION)
            .within(Duration.ZERO, LIFETIME_MAX)
            .defaultsTo(Duration.ofDays(1))
            .wholeSeconds()
            .perRule()
            .atsName("proxy.config.http.cache.heuristic_max_lifetime")
            .description("Longest heuristic freshness lifetime.");
    public static final ConfigKey<Boolean> CACHE_HEURISTIC_WITHOUT_LAST_MODIFIED = ConfigKey.builder(
                    "cache.heuristic_without_last_modified", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether a response with neither an explicit lifetime nor Last-Modified stays fresh for"
                    + " cache.heuristic_min_lifetime, as in Traffic Server. Errors other than 410 do not.");
    public static final ConfigKey<Duration> CACHE_MAX_STALE_AGE = ConfigKey.builder(
                    "cache.max_stale_age", ValueType.DURATION)
            .within(Duration.ZERO, LIFETIME_MAX)
            .defaultsTo(Duration.ofDays(7))
            .wholeSeconds()
            .perRule()
            .atsName("proxy.config.http.cache.max_stale_age")
            .description("Time after the end of its lifetime for which a response may be served while the origin"
                    + " fails.");
    public static final ConfigKey<StoringRules.RequiredHeaders> CACHE_REQUIRED_HEADERS = ConfigKey.builder(
                    "cache.required_headers", ValueType.word(StoringRules.RequiredHeaders.class, true))
            .defaultsTo(StoringRules.RequiredHeaders.NONE)
            .perRule()
            .atsName("proxy.config.http.cache.required_headers")
            .description("Fields that a 200 response needs to be stored. none: no field. last_modified: Last-Modified,"
                    + " Expires, max-age or s-maxage. lifetime: Expires, max-age or s-maxage.");
    public static final ConfigKey<Boolean> CACHE_IGNORE_CLIENT_NO_CACHE = ConfigKey.builder(
                    "cache.ignore_client_no_cache", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.http.cache.ignore_client_no_cache")
            .description("Whether no-cache, no-store and Pragma in requests are ignored.");
    public static final ConfigKey<Boolean> CACHE_IGNORE_CLIENT_MAX_AGE = ConfigKey.builder(
                    "cache.ignore_client_max_age", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.http.cache.ignore_client_cc_max_age")
            .description("Whether max-age in requests is ignored.");
    public static final ConfigKey<Duration> CACHE_COLLAPSE_WAIT = ConfigKey.builder(
                    "cache.collapse_wait", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(5))
            .perRule()
            .atsName("proxy.config.http.cache.max_open_read_retries")
            .description(
                    "How long a request waits for another request's fetch of the same URL before it goes to the origin"
                            + " itself; 0 never waits.");
    public static final ConfigKey<FillConfig.ReadWhileWriting> CACHE_READ_WHILE_WRITING = ConfigKey.builder(
                    "cache.read_while_writing", ValueType.word(FillConfig.ReadWhileWriting.class, true))
            .defaultsTo(FillConfig.ReadWhileWriting.ALWAYS)
            .perRule()
            .atsName("proxy.config.cache.enable_read_while_writer")
            .description("Requests that may share the fetch of another request: never (none), always (all), or"
                    + " not_for_ranges (those without Range).");
    public static final ConfigKey<Duration> CACHE_UNCACHEABLE_TTL = ConfigKey.builder(
                    "cache.uncacheable_ttl", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(1))
            .defaultsTo(Duration.ofMinutes(2))
            .wholeSeconds()
            .perRule()
            .description("For this time after a response could not be stored, requests for its URL do not wait for each"
                    + " other's fetch; 0 turns this off.");
    public static final ConfigKey<Boolean> CACHE_RANGE_LOOKUP = ConfigKey.builder(
                    "cache.range.lookup", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .atsName("proxy.config.http.cache.range.lookup")
            .description("Whether requests with a Range field use the cache; otherwise they are sent to the origin"
                    + " unchanged.");
    public static final ConfigKey<Boolean> CACHE_RANGE_WRITE = ConfigKey.builder("cache.range.write", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .atsName("proxy.config.http.cache.range.write")
            .description(
                    "Whether a request for a range that is not stored fetches and stores the whole response; otherwise"
                            + " only the missing part of the range is fetched and stored.");
    public static final ConfigKey<Duration> CACHE_BACKGROUND_FILL_ACTIVE_TIMEOUT = ConfigKey.builder(
                    "cache.background_fill_active_timeout", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(1))
            .defaultsTo(Duration.ZERO)
            .perRule()
            .atsName("proxy.config.http.background_fill_active_timeout")
            .description("How long a fetch continues after its last client has left, to store the response; 0 sets no"
                    + " limit.");
    public static final ConfigKey<Double> CACHE_BACKGROUND_FILL_COMPLETED_THRESHOLD = ConfigKey.builder(
                    "cache.background_fill_completed_threshold", ValueType.DECIMAL)
            .within(0.0, 1.0)
            .defaultsTo(0.0)
            .perRule()
            .atsName("proxy.config.http.background_fill_completed_threshold")
            .description("If at least this share of a response was received when its last client leaves, the rest is"
                    + " fetched; 0 always fetches it.");
    public static final ConfigKey<String> CACHE_VOLUME = ConfigKey.builder("cache.volume", ValueType.STRING)
            .perRule()
            .atsName("@volume")
            .description("Name of the volume in which responses are stored, from volumes, or default for the"
                    + " remaining space. Without this key, volumes[].hosts decides by the requested host.");
    public static final ConfigKey<Long> CACHE_FILL_WINDOW = ConfigKey.builder("cache.fill_window", ValueType.SIZE)
            .within(64 * KIB, GIB)
            .defaultsTo(MIB)
            .description(
                    "Bytes of a response that stay in memory for its clients. A client that is further behind reads"
                            + " from the store; if the response is not stored, the fetch waits for this client.");

    // log
    public static final ConfigKey<Boolean> LOG_ACCESS_ENABLED = ConfigKey.builder(
                    "log.access.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .rolling()
            .atsName("proxy.config.log.logging_enabled")
            .description("Whether an access log is written.");
    public static final ConfigKey<Path> LOG_ACCESS_PATH = ConfigKey.builder("log.access.path", ValueType.PATH)
            .rolling()
            .atsName("proxy.config.log.logfile_dir")
            .description("Access log file; by default, access.log in the log directory, or access.blog for the"
                    + " format binary.");
    public static final ConfigKey<AccessLogFormat> LOG_ACCESS_FORMAT = ConfigKey.builder(
                    "log.access.format", ValueType.LOG_FORMAT)
            .defaultsTo(AccessLogFormat.SQUID)
            .rolling()
            .atsName("logging.yaml format")
            .description(
                    "Format: Squid's native one, the common or combined one of web servers, JSON, binary, or a template"
                            + " of %<code> fields; docs/reference/logs.md lists the codes.");
    public static final ConfigKey<Long> LOG_ACCESS_ROTATE_SIZE = ConfigKey.builder(
                    "log.access.rotate_size", ValueType.SIZE)
            .within(0L, TIB)
            .defaultsTo(GIB)
            .rolling()
            .atsName("proxy.config.log.rolling_size_mb")
            .description("Size at which the file is rotated; 0 turns this off.");
    public static final ConfigKey<Duration> LOG_ACCESS_ROTATE_INTERVAL = ConfigKey.builder(
                    "log.access.rotate_interval", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(366))
            .defaultsTo(Duration.ofDays(1))
            .wholeSeconds()
            .rolling()
            .atsName("proxy.config.log.rolling_interval_sec")
            .description("Time after which the file is rotated; 0 turns this off.");
    public static final ConfigKey<Integer> LOG_ACCESS_ROTATE_KEEP = ConfigKey.builder(
                    "log.access.rotate_keep", ValueType.INTEGER)
            .within(0, 10_000)
            .defaultsTo(7)
            .rolling()
            .atsName("proxy.config.log.rolling_min_count")
            .description("Rotated files that are kept; 0 keeps all.");

    // admin
    public static final ConfigKey<Path> ADMIN_SOCKET = ConfigKey.builder("admin.socket", ValueType.PATH)
            .relaunch()
            .description("Unix socket of the admin API; by default, admin.sock in the state directory, or in the"
                    + " runtime directory of systemd.");
    public static final ConfigKey<ListenAddress> ADMIN_LISTEN = ConfigKey.builder("admin.listen", ValueType.ADDRESS)
            .relaunch()
            .description(
                    "TCP address of the admin API besides the socket; needs token_file or tokens, and tls unless the"
                            + " address is loopback.");

    // timeouts
    public static final ConfigKey<Duration> TIMEOUTS_CLIENT_HEADER = timeout("timeouts.client_header", 30)
            .atsName("proxy.config.http.accept_no_activity_timeout")
            .description("Time from the first byte of a request, or from accepting a connection, to the end of the"
                    + " request's head. A TLS handshake may take at most 10 s of this time.");
    public static final ConfigKey<Duration> TIMEOUTS_CLIENT_KEEP_ALIVE = timeout("timeouts.client_keep_alive", 120)
            .atsName("proxy.config.http.keep_alive_no_activity_timeout_in")
            .description("How long a client's connection stays open between two requests.");
    public static final ConfigKey<Duration> TIMEOUTS_CLIENT_BODY = timeout("timeouts.client_body", 30)
            .atsName("proxy.config.http.transaction_no_activity_timeout_in")
            .description("Longest pause while a client sends its request content or takes its response.");
    public static final ConfigKey<Duration> TIMEOUTS_ORIGIN_CONNECT = timeout("timeouts.origin_connect", 10)
            .atsName("proxy.config.http.connect_attempts_timeout")
            .description("Time to resolve the origin's name, connect, and finish the TLS handshake, for each attempt.");
    public static final ConfigKey<Duration> TIMEOUTS_ORIGIN_FIRST_BYTE = timeout("timeouts.origin_first_byte", 30)
            .atsName("proxy.config.http.transaction_no_activity_timeout_out")
            .description("Time from the end of the request to the end of the head of the origin's response.");
    public static final ConfigKey<Duration> TIMEOUTS_ORIGIN_IDLE = timeout("timeouts.origin_idle", 30)
            .atsName("proxy.config.http.transaction_no_activity_timeout_out")
            .description("Longest pause within an origin's response.");
    public static final ConfigKey<Duration> TIMEOUTS_DRAIN = ConfigKey.builder("timeouts.drain", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(24))
            .defaultsTo(Duration.ofSeconds(30))
            .atsName("proxy.config.stop.shutdown_timeout")
            .description("Time for which a worker that stops may finish its requests in progress.");

    // limits
    public static final ConfigKey<Long> LIMITS_REQUEST_LINE = ConfigKey.builder("limits.request_line", ValueType.SIZE)
            .within(256L, 64 * KIB)
            .defaultsTo(8 * KIB)
            .atsName("proxy.config.http.request_line_max_size")
            .description("Longest request line; a longer one is answered with 414.");
    public static final ConfigKey<Long> LIMITS_REQUEST_HEADER = ConfigKey.builder(
                    "limits.request_header", ValueType.SIZE)
            .within(KIB, MIB)
            .defaultsTo(32 * KIB)
            .atsName("proxy.config.http.request_header_max_size")
            .description("Longest field section of a request; a longer one is answered with 431.");
    public static final ConfigKey<Long> LIMITS_RESPONSE_HEADER = ConfigKey.builder(
                    "limits.response_header", ValueType.SIZE)
            .within(KIB, MIB)
            .defaultsTo(64 * KIB)
            .atsName("proxy.config.http.response_header_max_size")
            .description("Longest field section of an origin's response; a longer one is answered with 502.");
    public static final ConfigKey<Long> LIMITS_REQUEST_BODY = ConfigKey.builder("limits.request_body", ValueType.SIZE)
            .within(0L, 16 * TIB)
            .defaultsTo(0L)
            .atsName("proxy.config.http.max_post_size")
            .description("Longest request content; longer content is answered with 413; 0 sets no limit.");
    public static final ConfigKey<Integer> LIMITS_CONNECTIONS = ConfigKey.builder(
                    "limits.connections", ValueType.INTEGER)
            .within(1, 10_000_000)
            .defaultsTo(30_000)
            .atsName("proxy.config.net.max_connections_in")
            .description("Client connections open at the same time; further ones are closed at once.");
    public static final ConfigKey<Integer> LIMITS_REQUESTS_PER_CONNECTION = ConfigKey.builder(
                    "limits.requests_per_connection", ValueType.INTEGER)
            .within(0, Integer.MAX_VALUE)
            .defaultsTo(0)
            .description("Number of requests after which a client's connection is closed; 0 sets no limit.");

    public static final ConfigKey<Long> LIMITS_MEMORY_IN_FLIGHT = ConfigKey.builder(
                    "limits.memory_in_flight", ValueType.SIZE)
            .within(4 * MIB, TIB)
            .orZero()
            .defaultsTo(0L)
            .description("Limit of all bytes in buffers of client and origin connections. As they grow,"
                    + " responses are read less far ahead, then slow clients are closed, then new fetches get 503."
                    + " 0 means three quarters of the direct memory that the cache does not use.");
    public static final ConfigKey<Long> LIMITS_RESPONSE_RATE_MIN = ConfigKey.builder(
                    "limits.response_rate_min", ValueType.SIZE)
            .within(16L, MIB)
            .orZero()
            .defaultsTo(KIB)
            .description("Bytes per second at which a client must read a response that is ready, over 30 s or longer; 0"
                    + " sets no limit.");

    // origin
    public static final ConfigKey<Integer> ORIGIN_CONNECTIONS_MAX = ConfigKey.builder(
                    "origin.connections_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .defaultsTo(256)
            .atsName("proxy.config.http.per_server.connection.max")
            .description(
                    "Connections to one origin by each event loop; further requests wait in the queue. After the limit"
                            + " is lowered, excess connections are closed after their requests.");
    public static final ConfigKey<Integer> ORIGIN_QUEUE_MAX = ConfigKey.builder("origin.queue_max", ValueType.INTEGER)
            .within(0, 1_000_000)
            .defaultsTo(1024)
            .description(
                    "Requests of one event loop that wait for a connection to one origin; further ones are answered"
                            + " with 503.");
    public static final ConfigKey<Duration> ORIGIN_QUEUE_WAIT = ConfigKey.builder(
                    "origin.queue_wait", ValueType.DURATION)
            .within(Duration.ofMillis(1), Duration.ofMinutes(10))
            .defaultsTo(Duration.ofSeconds(10))
            .description("How long a request waits for a connection to its origin before it is answered with 503.");
    public static final ConfigKey<Duration> ORIGIN_KEEP_ALIVE = ConfigKey.builder(
                    "origin.keep_alive", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(24))
            .defaultsTo(Duration.ofSeconds(50))
            .atsName("proxy.config.http.keep_alive_no_activity_timeout_out")
            .description("How long an idle connection to an origin is kept for the next request; 0 closes it after each"
                    + " request. A shorter value also applies to connections that are already idle: they are"
                    + " not used after that time, but may be closed later.");
    public static final ConfigKey<Integer> ORIGIN_KEEP_ALIVE_MAX = ConfigKey.builder(
                    "origin.keep_alive_max", ValueType.INTEGER)
            .within(0, 100_000)
            .defaultsTo(64)
            .description("Idle connections kept for one origin by each event loop.");

    // worker
    public static final ConfigKey<Path> WORKER_JAVA_HOME = ConfigKey.builder("worker.java_home", ValueType.PATH)
            .rolling()
            .description("JDK that runs the worker; by default, the launcher's JDK.");
    public static final ConfigKey<Integer> WORKER_EVENT_LOOPS = ConfigKey.builder(
                    "worker.event_loops", ValueType.INTEGER)
            .within(0, 1024)
            .defaultsTo(0)
            .relaunch()
            .atsName("proxy.config.exec_thread.limit")
            .description("Event loops, each with its own listening sockets; 0 means one for each core.");
    public static final ConfigKey<WorkerConfig.Transport> WORKER_TRANSPORT = ConfigKey.builder(
                    "worker.transport", ValueType.word(WorkerConfig.Transport.class, false))
            .defaultsTo(WorkerConfig.Transport.AUTO)
            .relaunch()
            .description("Mechanism for polling sockets; auto uses epoll if the system has it.");
    public static final ConfigKey<Boolean> WORKER_FAST_LANE = ConfigKey.builder("worker.fast_lane", ValueType.BOOLEAN)
            .defaultsTo(true)
            .description(
                    "Whether hits in RAM on new connections use the fast lane, a shorter code path. Without TLS this"
                            + " needs epoll.");
    public static final ConfigKey<Long> WORKER_HEAP_SIZE = ConfigKey.builder("worker.heap_size", ValueType.SIZE)
            .within(64 * MIB, TIB)
            .orZero()
            .defaultsTo(0L)
            .rolling()
            .description(
                    "Java heap of the worker. Bodies in RAM are outside the heap; their keys and heads may take half"
                            + " of it. 0 means 512MiB plus an eighth of cache.ram_size, enough for bodies of 16 KiB"
                            + " on average.");
    public static final ConfigKey<Duration> WORKER_HEARTBEAT_INTERVAL = ConfigKey.builder(
                    "worker.heartbeat_interval", ValueType.DURATION)
            .within(Duration.ofMillis(50), Duration.ofMinutes(1))
            .defaultsTo(Duration.ofSeconds(1))
            .relaunch()
            .description("How often the worker reports to the launcher that every event loop still runs.");
    public static final ConfigKey<Duration> WORKER_HEARTBEAT_TIMEOUT = ConfigKey.builder(
                    "worker.heartbeat_timeout", ValueType.DURATION)
            .within(Duration.ofMillis(200), Duration.ofMinutes(10))
            .defaultsTo(Duration.ofSeconds(10))
            .relaunch()
            .atsName("proxy.config.exec_thread.watchdog.timeout_ms")
            .description(
                    "Time without a heartbeat after which the launcher considers the worker hung and replaces it.");
    public static final ConfigKey<Duration> WORKER_WARM_UP_LIMIT = ConfigKey.builder(
                    "worker.warm_up_limit", ValueType.DURATION)
            .within(Duration.ofMillis(100), Duration.ofMinutes(5))
            .orZero()
            .defaultsTo(Duration.ofSeconds(60))
            .description("Longest time that a new worker warms up, by requests to itself, before it replaces a serving"
                    + " worker. The warm-up ends earlier when the JIT compilers are idle. 0 turns the warm-up off."
                    + " After a crash of the worker, the next one serves without a warm-up.");

    private ConfigKeys() {}

    private static ConfigKey.Builder<Duration> timeout(String path, long defaultSeconds) {
        return ConfigKey.builder(path, ValueType.DURATION)
                .within(Duration.ofMillis(10), Duration.ofHours(24))
                .defaultsTo(Duration.ofSeconds(defaultSeconds));
    }
}
