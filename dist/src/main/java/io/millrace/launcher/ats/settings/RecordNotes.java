package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.source.Entry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explanations of Traffic Server records without a key in Millrace. The note with the longest matching prefix applies.
 */
final class RecordNotes {
    /**
     * An explanation of the records with a name or prefix.
     *
     * @param off the value with which Traffic Server behaves like Millrace, or several separated by bars; {@code *} for
     *     every value; null for none
     * @param why why the record has no effect with that value
     * @param instead what is missing with other values, and what to do
     */
    private record Note(String name, @Nullable String off, String why, String instead) {}

    private static final List<Note> NOTES = new ArrayList<>();

    static {
        processes();
        storage();
        requests();
        origins();
        security();
        logs();
    }

    private RecordNotes() {}

    /** Adds the explanation of a record to its entry. */
    static void explain(String name, @Nullable String value, Entry entry) {
        Note best = null;
        for (Note note : NOTES) {
            boolean fits = name.equals(note.name) || (note.name.endsWith(".") && name.startsWith(note.name));
            if (fits && (best == null || note.name.length() >= best.name.length())) {
                best = note;
            }
        }
        if (best == null) {
            entry.notMapped(
                    "Millrace has no setting for this record, or it is not one of Traffic Server's; see docs/reference/configuration.md");
        } else if ("*".equals(best.off) || value == null || isOff(best, value)) {
            entry.note(best.why.isEmpty() ? "that is how Millrace does it" : best.why);
        } else {
            entry.notMapped(best.instead);
        }
    }

    private static boolean isOff(Note note, String value) {
        return note.off != null
                && (note.off.equals(value) || List.of(note.off.split("[|]", -1)).contains(value));
    }

    private static void never(String name, String why) {
        NOTES.add(new Note(name, "*", why, why));
    }

    private static void unless(String off, String name, String instead) {
        NOTES.add(new Note(name, off, off.equals("0") ? "off, as here" : "", instead));
    }

    private static void missing(String name, String instead) {
        NOTES.add(new Note(name, null, "says nothing", instead));
    }

    private static void processes() {
        String own = "how Traffic Server arranges its own processes, threads and memory; Millrace does that by itself";
        for (String name : List.of(
                "exec_thread.",
                "thread.",
                "accept_threads",
                "task_threads",
                "allocator.",
                "memory.",
                "mlock_enabled",
                "core_limit",
                "crash_log_helper",
                "system.",
                "system_clock",
                "cop.",
                "process_manager.",
                "process_server_timeout",
                "env_prep",
                "bin_path",
                "proxy_binary",
                "proxy_binary_opts",
                "manager_binary",
                "cli_binary",
                "watch_script",
                "config_dir",
                "local_state_dir",
                "plugin.plugin_dir",
                "snapshot_dir",
                "lm.",
                "alarm.",
                "alarm_email",
                "alarm_bin",
                "alarm_abs_path",
                "proxy.local.",
                "remote_sync_interval_ms",
                "raw_stat_sync_interval_ms",
                "config_update_interval_ms",
                "stats.",
                "stat_systemV2.",
                "dump_mem_info_frequency",
                "res_track_memory",
                "io.",
                "aio.",
                "hugepages",
                "mgmt.",
                "syslog_facility",
                "jsonrpc.",
                "admin.",
                "header.parse.",
                "http.parse.",
                "net.event_period",
                "net.accept_period",
                "net.poll_timeout",
                "net.throttle_delay",
                "net.retry_delay",
                "net.inactivity_check_frequency")) {
            never(name, own);
        }
        never("user_name", "the service's unit file says as whom Millrace runs");
        never("admin.user_id", "the service's unit file says as whom Millrace runs");
        never("admin.number_config_bak", "Millrace overwrites no file of yours");
        never("admin.", "Millrace is looked after by millctl; see docs/reference/millctl.md");
        never("diags.", "Millrace's own log goes to standard error, which journald keeps; see docs/reference/logs.md");
        never(
                "output.logfile",
                "Millrace's own log goes to standard error, which journald keeps; see docs/reference/logs.md");
        never("output.", "Millrace's own log goes to standard error, which journald keeps; see docs/reference/logs.md");
        missing("vmap.", "virtual addresses that move to another machine are the work of keepalived or the like");
        missing(
                "cluster.",
                "Traffic Server itself has no cluster since version 8; each node has its own configuration");
        never("cluster.ethernet_interface", "Traffic Server has no cluster since version 8, and this alone makes none");
        missing("body_factory.", "bodies of the proxy's own errors cannot be changed");
        unless("0", "body_factory.enable_customizations", "bodies of the proxy's own errors cannot be changed");
        unless(
                "1",
                "reverse_proxy.enabled",
                "Millrace is a reverse proxy; without rules of remap it forwards what forward_proxy allows");
        never("url_remap.filename", "not used: remap.yaml exists and takes precedence");
        never(
                "url_remap.min_rules_required",
                "a configuration with any fault is refused whole, and the one in use stays");
        never("url_remap.acl_behavior_policy", "taken into account for the actions allow and deny of remap.config");
        unless("1", "http.enabled", "Millrace listens where listen says");
        never("http.wait_for_cache", "requests wait for the cache at the start as long as store.open_wait says");
        never("http_ui_enabled", "what is in the cache is shown by millctl cache list and millctl cache lookup");
    }

    private static void storage() {
        String engine = "how Traffic Server's store is built; Millrace's has no such choice";
        for (String name : List.of(
                "cache.threads_per_disk",
                "cache.min_average_object_size",
                "cache.agg_write_backlog",
                "cache.dir.",
                "cache.mutex_retry_delay",
                "cache.target_fragment_size",
                "cache.force_sector_size",
                "cache.alt_rewrite_max_size",
                "cache.volume_filename",
                "cache.storage_filename",
                "cache.hosting_filename",
                "cache.control.filename",
                "cache.read_while_writer",
                "cache.read_while_writer_retry.",
                "cache.read_while_writer.",
                "cache.log.alternate.eviction",
                "cache.log.",
                "cache.shm.",
                "cache.persist_bad_disks",
                "cache.max_disk_errors",
                "cache.hit_evacuate_percent",
                "cache.hit_evacuate_size_limit",
                "cache.initial_scan_wait",
                "cache.hostdb.",
                "cache.http.")) {
            never(name, engine);
        }
        unless("1", "cache.select_alternate", "Vary always decides about variants (RFC 9111 s4.1)");
        unless("0", "cache.vary_on_user_agent", "say it by cache.key.fields");
        never("cache.ram_cache.algorithm", "Millrace admits and evicts by W-TinyLFU");
        never("cache.ram_cache.use_seen_filter", "Millrace admits and evicts by W-TinyLFU");
        never("cache.ram_cache.s3fifo.", "Millrace admits and evicts by W-TinyLFU");
        unless("0", "cache.ram_cache.compress", "bodies in RAM are not compressed");
        never("cache.ram_cache.compress_percent", "bodies in RAM are not compressed");
        never("cache.ram_cache_cutoff", "pieces of long bodies that are asked for repeatedly stay in RAM too");
        never("cache.enable_checksum", "every block has a checksum, which is verified");
        missing("cache.default_volumes", "volumes are chosen by hosts or by a rule's cache.volume");
    }

    private static void requests() {
        unless("1", "http.insert_age_in_response", "Age is always sent (RFC 9111 s5.1)");
        for (String field : List.of("from", "referer", "user_agent", "cookie", "client_ip")) {
            unless("0", "http.anonymize_remove_" + field, "request fields cannot be taken out");
        }
        unless("", "http.anonymize_other_header_list", "request fields cannot be taken out");
        missing("http.global_user_agent_header", "request fields cannot be set");
        missing("http.response_server_str", "Server says millrace, or what the origin says: via.server");
        unless(
                "0",
                "http.normalize_ae",
                "variants of Accept-Encoding are told apart by meaning, and the field reaches the origin as it came");
        for (String field : List.of("", "_language", "_encoding", "_charset")) {
            unless(
                    "2",
                    "http.cache.ignore_accept" + field + "_mismatch",
                    "Vary alone decides about variants (RFC 9111 s4.1)");
        }
        never("http.cache.try_compat_key_read", "nothing is read of what Traffic Server has stored");
        unless("0", "http.cache.enable_default_vary_headers", "say it by cache.key.fields");
        for (String kind : List.of("text", "images", "other")) {
            missing("http.cache.vary_default_" + kind, "say it by cache.key.fields, for all types");
        }
        never(
                "http.cache.max_open_write_retries",
                "requests for one URL wait for each other as cache.collapse_wait says");
        never(
                "http.cache.max_open_write_retry_timeout",
                "requests for one URL wait for each other as cache.collapse_wait says");
        unless(
                "0",
                "http.cache.open_write_fail_action",
                "requests for one URL wait for each other as cache.collapse_wait says; none is answered with 502 or stale for that");
        unless(
                "1",
                "http.allow_multi_range",
                "several ranges are answered from what is stored as a whole, else passed");
        unless(
                "0",
                "http.transaction_active_timeout_in",
                "an exchange may take as long as something comes: timeouts.client_body");
        unless(
                "0",
                "http.transaction_active_timeout_out",
                "an exchange may take as long as something comes: timeouts.origin_idle");
        missing("http.post_connect_attempts_timeout", "timeouts.origin_connect holds for all methods");
        never("http.default_buffer_size", "buffers have their own sizes");
        never("http.default_buffer_water_mark", "a fetch reads ahead of the slowest client by cache.fill_window");
        never("http.flow_control.", "a fetch reads ahead of the slowest client by cache.fill_window");
        unless("1", "http.chunking_enabled", "chunked responses are always sent to clients of HTTP/1.1");
        never("http.chunking.size", "chunks are as they come");
        unless("1", "http.allow_half_open", "a client that ends its sending side may get its answer all the same");
        unless("1", "http.send_http11_requests", "origins are always asked by HTTP/1.1");
        unless("1|2", "http.strict_uri_parsing", "URLs are always parsed by RFC 9110 and RFC 9112");
        unless("1", "http.strict_chunk_parsing", "chunks are always parsed by RFC 9112");
        unless("1", "http.drop_chunked_trailers", "trailers are always dropped");
        missing(
                "http.header_field_max_size",
                "limits.request_header and limits.response_header hold for all fields together");
        unless("0", "http.send_100_continue_response", "100 (Continue) is the origin's to send");
        unless("0", "http.number_of_redirections", "redirections of origins go to the client");
        never("http.redirect.", "redirections of origins go to the client");
        never("http.redirect_use_orig_cache_key", "redirections of origins go to the client");
        never("http.referer_filter", "taken into account for map_with_referer");
        never("http.referer_format_redirect", "the codes of referer_redirect are always filled in");
        never("http.referer_default_redirect", "taken into account for map_with_referer");
        never("http.doc_in_cache_skip_dns", "nobody is asked for a name while the cache answers");
        unless("0", "http.max_proxy_cycles", "a request that came through this proxy before is always refused");
        unless("0", "http.slow.log.threshold", "the access log has the time of each request");
        never("http.milestones.", "the access log has the time of each request");
        never(
                "http.no_dns_just_forward_to_parent",
                "names of parents alone are looked up where a rule has a group of origins");
        unless("0", "http.forward_connect_method", "CONNECT goes where forward_proxy says, never by a rule");
        unless("0", "http.forward.proxy_auth_to_parent", "Proxy-Authorization is never sent on");
        unless(
                "0",
                "http.auth_server_session_private",
                "a connection to an origin is used for one request after the other, whosever they are");
        never("http2.", "HTTP/2 has limits of its own; see section http2 in docs/reference/configuration.md");
        unless("1", "http2.enabled", "write http2: false at each address of listen with tls");
        missing("quic.", "HTTP/3 is not offered");
        unless("-1", "http.websocket.max_number_of_connections", "tunnels count as connections: limits.connections");
    }

    private static void origins() {
        never(
                "http.connect_attempts_",
                "the other addresses of a host are tried by themselves; other hosts as origins[].retry says");
        for (String name : List.of(
                "max_retries", "max_retries_suspect_server", "max_retries_dead_server", "max_retries_down_server")) {
            unless(
                    "0",
                    "http.connect_attempts_" + name,
                    "each address of a host is connected to once; a group of origins with retry has more tries");
        }
        for (String name : List.of("rr_retries", "retry_backoff_base")) {
            never(
                    "http.connect_attempts_" + name,
                    "the other addresses of a host are tried by themselves; other hosts as origins[].retry says");
        }
        never("http.connect.", "hosts of a group are marked down as origins[].markdown says");
        never("http.connect.down.policy", "hosts of a group are marked down as origins[].markdown says");
        never(
                "http.per_server.connection.",
                "requests over the limit wait in origin.queue_max, and metrics count them");
        unless("0", "http.per_server.connection.min", "connections are not opened beforehand");
        unless("0", "http.origin_min_keep_alive_connections", "connections are not opened beforehand");
        never("http.server_session_sharing.", "each event loop keeps its own connections, for one host and port");
        never("http.share_server_sessions", "each event loop keeps its own connections, for one host and port");
        unless("1", "http.keep_alive_enabled_in", "set limits.requests_per_connection: 1");
        unless("1", "http.keep_alive_enabled_out", "set origin.keep_alive: 0");
        unless("1", "http.keep_alive_post_out", "connections are kept after POST as after others");
        never("http.parent_proxy.", "said for each group of origins: retry and markdown");
        never(
                "http.parent_proxy.self_detect",
                "a group never asks this proxy itself; see self in docs/guide/origins.md");
        unless(
                "0",
                "http.parent_proxy.disable_parent_markdowns",
                "hosts of a group are marked down as origins[].markdown says");
        unless("0", "http.parent_proxy.disable_connect_tunneling", "CONNECT goes through forward_proxy.origins too");
        unless(
                "1",
                "http.parent_proxy_routing_enable",
                "Traffic Server until version 7 goes past parents then; here the groups of parent.config were written: take them out if they were not used");
        never("dns.", "names are asked for by Millrace's own resolver, see docs/guide/origins.md");
        unless("0", "dns.dedicated_thread", "the event loops ask by themselves, and none waits");
        unless("0", "dns.search_default_domains", "names are asked for as they are written");
        missing("dns.local_ipv4", "name servers are asked from the address that the system chooses");
        missing("dns.local_ipv6", "name servers are asked from the address that the system chooses");
        missing("dns.resolv_conf", "/etc/resolv.conf is read, or name the servers in dns.name_servers");
        unless("0", "dns.connection_mode", "name servers are asked by UDP, and by TCP where an answer is cut");
        never("dns.splitDNS.", "taken into account for splitdns.config");
        never("dns.splitdns.", "taken into account for splitdns.config");
        never("hostdb.", "what is remembered of hosts is bounded by dns.hosts_max and by the names' own times");
        unless("0", "hostdb.strict_round_robin", "addresses of a host take turns");
        never("hostdb.strict_round_robin", "addresses of a host take turns");
        missing(
                "proxy.local.outgoing_ip_to_bind",
                "connections to origins come from the address that the system chooses");
        missing("outgoing_ip_to_bind", "connections to origins come from the address that the system chooses");
        missing("socks.", "origins are not reached through SOCKS");
        unless("0", "socks.socks_needed", "origins are not reached through SOCKS");
        missing("icp.", "caches do not ask each other by ICP");
        unless("0", "icp.enabled", "caches do not ask each other by ICP");
    }

    private static void security() {
        missing("net.per_client.", "limits.per_client has what is counted of one client");
        unless("0", "net.max_requests_in", "connections are bounded, by limits.connections, and not requests");
        never("net.default_inactivity_timeout", "each step has its own time: timeouts");
        never("net.", "how Traffic Server sets its sockets; Millrace's are set as they have shown best");
        unless("0", "net.sock_mss_in", "sockets have the system's segment size");
        missing("ssl.", "see docs/guide/https.md");
        for (String name : List.of(
                "ssl.server.cert.path",
                "ssl.server.private_key.path",
                "ssl.enabled",
                "ssl.number.threads",
                "ssl.server.multicert.")) {
            never(name, "taken into account where listen has tls");
        }
        missing("ssl.server.TLSv1_3.", "the cipher suites of TLS 1.3 are always the same");
        never("ssl.server.honor_cipher_order", "the order of tls.ciphers counts");
        never("ssl.server.dhparams_file", "no cipher suite that is offered uses it");
        missing("ssl.server.cert_chain.filename", "put the chain into the certificate's file");
        unless("1", "ssl.server.session_ticket.enable", "session tickets are issued for all names");
        never("ssl.server.session_ticket.", "tickets are as BoringSSL makes them");
        never("ssl.server.ticket_key.filename", "keys of session tickets are made, and renewed every 12 hours");
        never("ssl.server.cert_compression.", "certificates go compressed (zlib) to clients that ask for that");
        for (String version : List.of("SSLv2", "SSLv3", "TLSv1", "TLSv1_1")) {
            unless("0", "ssl." + version, "TLS below 1.2 is not spoken");
            unless("0", "ssl." + version + ".enabled", "TLS below 1.2 is not spoken");
        }
        for (String version : List.of("TLSv1_2", "TLSv1_3", "TLSv1_2.enabled", "TLSv1_3.enabled")) {
            unless("1", "ssl." + version, "no address of listen has tls");
        }
        never("ssl.session_cache", "sessions are taken up again as BoringSSL does it");
        never("ssl.session_cache.", "sessions are taken up again as BoringSSL does it");
        missing("ssl.client.verify.server.", "set origin.tls.verify: on, off, name, chain or warn");
        missing("ssl.client.CA.", "set origin.tls.ca_file");
        never("ssl.ocsp.", "responders are asked at half of an answer's validity, see docs/guide/https.md");
        missing("ssl.ocsp.response.path", "answers are asked for by the proxy, and kept in its state directory");
        unless("0", "ssl.server.max_early_data", "early data is not accepted");
        unless("0", "ssl.server.allow_early_data_params", "early data is not accepted");
        unless("0", "ssl.allow_client_renegotiation", "clients cannot renegotiate");
        unless("0", "ssl.ktls.enabled", "TLS is done in the process");
        unless("0", "ssl.client.certification_level", "no address of listen has tls");
        unless(
                "2",
                "http.host_sni_policy",
                "a Host whose policy for client certificates is stricter than that of the name in TLS is always refused");
        missing("ssl.client.sni_policy", "set origin.tls.sni or origin.tls.name");
    }

    private static void logs() {
        String one = "there is one access log; log.access says where, how, and when it is rotated";
        never("log.", one);
        unless("1", "log.sampling_frequency", "every request has its line");
        never("log.max_space_mb_for_logs", "log.access.rotate_keep bounds how many files are kept");
        never("log.auto_delete_rolled_files", "log.access.rotate_keep bounds how many files are kept");
        never("log.max_space_mb_headroom", "log.access.rotate_keep bounds how many files are kept");
        missing("log.collation_mode", "lines are not sent to another machine; let a log shipper read the file");
        unless("0", "log.collation_mode", "lines are not sent to another machine; let a log shipper read the file");
        never("log.custom_logs_enabled", "taken into account for logs_xml.config");
        never("log2.", one);
    }
}
