package io.millrace.launcher.squid;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Quantity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The translator of directives that set one key. Adds notes to directives without an equivalent. Confined to one
 * thread.
 */
final class Settings {
    private static final String PROCESS =
            "the directive concerns the processes, threads and memory of Squid; Millrace has its own";
    /** Keys of directives whose value is a time. */
    private static final Map<String, List<String>> TIMES = Map.ofEntries(
            Map.entry("connect_timeout", List.of("timeouts.origin_connect")),
            Map.entry("read_timeout", List.of("timeouts.origin_first_byte", "timeouts.origin_idle")),
            Map.entry("request_timeout", List.of("timeouts.client_header")),
            Map.entry("persistent_request_timeout", List.of("timeouts.client_keep_alive")),
            Map.entry("client_idle_pconn_timeout", List.of("timeouts.client_keep_alive")),
            Map.entry("server_idle_pconn_timeout", List.of("origin.keep_alive")),
            Map.entry("pconn_timeout", List.of("origin.keep_alive")),
            Map.entry("shutdown_lifetime", List.of("timeouts.drain")),
            Map.entry("dns_retransmit_interval", List.of("dns.query_timeout")),
            Map.entry("positive_dns_ttl", List.of("dns.ttl_max")),
            Map.entry("negative_dns_ttl", List.of("dns.negative_ttl")),
            Map.entry("max_stale", List.of("cache.max_stale_age")));
    /** Keys of directives whose value is a size. */
    private static final Map<String, String> SIZES = Map.of(
            "cache_mem", "cache.ram_size",
            "maximum_object_size", "cache.max_object_size",
            "request_header_max_size", "limits.request_header",
            "reply_header_max_size", "limits.response_header",
            "request_body_max_size", "limits.request_body");
    /** Notes about directives that need no equivalent. */
    private static final Map<String, String> NO_EFFECT = new HashMap<>();
    /** Notes about directives that have no equivalent. */
    private static final Map<String, String> MISSING = new HashMap<>();

    static {
        put(NO_EFFECT, PROCESS, """
                coredump_dir pid_filename cache_effective_user cache_effective_group workers cpu_affinity_map
                memory_pools memory_pools_limit max_filedescriptors chroot mime_table icon_directory error_directory
                error_default_language err_page_stylesheet cache_mgr mail_from mail_program umask as_whois_server
                unlinkd_program diskd_program pinger_enable pinger_program netdb_filename debug_options cache_log
                cache_store_log buffered_logs announce_period unique_hostname hostname_aliases check_hostnames
                allow_underscore httpd_suppress_version_string windows_ipaddrchangemonitor eui_lookup email_err_data
                hopeless_kid_revival_delay shared_memory_locking high_response_time_warning high_page_fault_warning
                high_memory_warning sleep_after_fork access_log_queue_size""");
        put(NO_EFFECT, "Millrace's store has its own rules for eviction and memory", """
                cache_replacement_policy memory_replacement_policy cache_swap_low cache_swap_high
                maximum_object_size_in_memory memory_cache_mode memory_cache_shared store_avg_object_size
                store_objects_per_bucket max_open_disk_fds cache_swap_state store_dir_select_algorithm
                minimum_expiry_time cache_miss_revalidate""");
        put(NO_EFFECT, "the directive concerns DNS in Squid; Millrace's resolver has the section dns", """
                ipcache_size ipcache_low ipcache_high fqdncache_size dns_defnames dns_children dns_packet_max
                dns_multicast_local hosts_default_append append_domain dns_timeout ignore_unknown_nameservers
                test_reachability""");
        put(NO_EFFECT, "the directive concerns connections of Squid; see timeouts, origin and origins[].retry", """
                client_persistent_connections server_persistent_connections half_closed_clients detect_broken_pconn
                persistent_connection_after_error client_db tcp_recv_bufsize read_ahead_gap pipeline_prefetch
                client_request_buffer_max_size peer_connect_timeout forward_timeout forward_max_tries write_timeout
                ident_timeout dead_peer_timeout client_lifetime connect_retries retry_on_error
                balance_on_multiple_ip prefer_direct nonhierarchical_direct hierarchy_stoplist
                happy_eyeballs_connect_timeout happy_eyeballs_connect_gap server_pconn_for_nonretriable""");
        put(NO_EFFECT, "Millrace supports HTTP only, not ICP, HTCP, FTP, SNMP or WCCP", """
                icp_port htcp_port snmp_port udp_incoming_address udp_outgoing_address icp_access htcp_access
                snmp_access ftp_user ftp_passive ftp_epsv ftp_eprt wccp2_router wccp_router icp_hit_stale
                log_icp_queries minimum_direct_hops minimum_direct_rtt query_icmp icp_query_timeout netdb_low
                netdb_high netdb_ping_period maximum_icp_query_timeout minimum_icp_query_timeout htcp_clr_access
                digest_generation digest_rebuild_period background_ping_rate mcast_groups""");
        put(NO_EFFECT, "log.access.format selects the content of the log; URLs are logged with their query", """
                strip_query_terms log_mime_hdrs log_fqdn client_netmask log_uses_indirect_client logfile_daemon
                netdb""");
        put(NO_EFFECT, "messages are parsed strictly, as RFC 9110 and RFC 9112 say", """
                relaxed_header_parser uri_whitespace ignore_expect_100 request_entities via_header
                vary_ignore_expire""");
        put(MISSING, "clients of a forward proxy cannot log in; for rules of remap write basic_auth", """
                auth_param authenticate_ttl authenticate_ip_ttl authenticate_cache_garbage_interval
                external_acl_type""");
        put(MISSING, "programs cannot change URLs; write rules with rewrite or redirect", """
                url_rewrite_program redirect_program url_rewrite_children url_rewrite_access url_rewrite_host_header
                store_id_program store_id_access store_id_children storeurl_rewrite_program url_rewrite_bypass
                redirect_children location_rewrite_program""");
        put(MISSING, "requests cannot be annotated", "note");
        put(
                MISSING,
                "the importer does not translate the directive; set origin.tls",
                "tls_outgoing_options sslproxy_options");
        put(MISSING, "TLS connections that clients open by CONNECT are not decrypted", """
                ssl_bump sslcrtd_program sslcrtd_children sslproxy_cert_error sslproxy_cert_adapt
                sslproxy_session_cache_size ssl_engine on_unsupported_protocol sslpassword_program""");
        put(MISSING, "other programs cannot inspect or change messages (ICAP, eCAP)", """
                icap_enable icap_service ecap_enable adaptation_access adaptation_service_set icap_send_client_ip
                icap_preview_enable icap_service_failure_limit adaptation_send_client_ip loadable_modules""");
        put(MISSING, "bandwidth is not limited", """
                delay_pools delay_class delay_access delay_parameters delay_initial_bucket_level client_delay_pools
                client_delay_access client_delay_parameters response_delay_pool reply_body_max_size""");
        put(MISSING, "the importer does not translate the directive; write error_pages", "deny_info");
        put(MISSING, "access is decided once, before the lookup, by access.filters and rules", """
                http_reply_access http_access2 adapted_http_access miss_access""");
        put(MISSING, "packets cannot be marked", "tcp_outgoing_tos clientside_tos qos_flows tcp_outgoing_mark");
        put(MISSING, "responses are stored and validated as RFC 9111 says", """
                offline_mode refresh_all_ims broken_vary_encoding ie_refresh vary_ignore_expiry send_hit store_miss
                range_offset_limit minimum_object_size""");
    }

    private final Draft draft;

    Settings(Workspace workspace) {
        this.draft = workspace.draft();
    }

    private static void put(Map<String, String> table, String note, String names) {
        for (String name : names.strip().split("\\s+", -1)) {
            table.put(name, note);
        }
    }

    void read(List<SquidLine> lines, Acls acls) {
        QuickAbort.translate(lines, draft);
        for (SquidLine line : lines) {
            if (!line.isHandled()) {
                translate(line, acls);
            }
        }
    }

    private void translate(SquidLine line, Acls acls) {
        List<String> times = TIMES.get(line.name());
        String size = SIZES.get(line.name());
        if (times != null) {
            setTimes(line, times);
        } else if (size != null) {
            setSize(line, size);
        } else if (NO_EFFECT.containsKey(line.name())) {
            line.note(String.valueOf(NO_EFFECT.get(line.name())));
        } else if (isOff(line)) {
            line.note("the value is " + line.arg(0) + ", as in Millrace");
        } else if (MISSING.containsKey(line.name())) {
            line.notMapped(String.valueOf(MISSING.get(line.name())));
        } else {
            translateSpecial(line, acls);
        }
    }

    private static boolean isOff(SquidLine line) {
        return (List.of("offline_mode", "icap_enable", "ecap_enable", "refresh_all_ims")
                                .contains(line.name())
                        && line.arg(0).equals("off"))
                || (line.name().equals("delay_pools") && line.arg(0).equals("0"))
                || (line.name().matches("(minimum_object_size|range_offset_limit|reply_body_max_size)")
                        && line.arg(0).matches("0|none"));
    }

    private void setTimes(SquidLine line, List<String> keys) {
        String time = time(line.args());
        if (time == null) {
            line.notMapped("'" + String.join(" ", line.args()) + "' is not a time");
            return;
        }
        for (String key : keys) {
            set(key, time, line);
        }
    }

    /** Converts a time such as {@code 1 minute} to Millrace's notation. Returns null if the words are not a time. */
    static @Nullable String time(List<String> words) {
        if (words.isEmpty() || !words.get(0).matches("\\d{1,9}(\\.\\d{1,3})?")) {
            return null;
        }
        String unit = words.size() > 1 ? words.get(1).toLowerCase(Locale.ROOT).replaceAll("s$", "") : "second";
        double factor =
                switch (unit) {
                    // "m" is "ms" without its last letter.
                    case "millisecond", "m" -> 0.001;
                    case "second" -> 1;
                    case "minute" -> 60;
                    case "hour" -> 3600;
                    case "day" -> 86_400;
                    case "week" -> 7 * 86_400;
                    case "fortnight" -> 14 * 86_400;
                    case "month" -> 30 * 86_400;
                    case "year" -> 365 * 86_400;
                    default -> -1;
                };
        return factor < 0 ? null : Quantity.millis(Math.round(Double.parseDouble(words.get(0)) * factor * 1000));
    }

    private void setSize(SquidLine line, String key) {
        String unit = line.arg(1).isEmpty() ? "bytes" : line.arg(1).toLowerCase(Locale.ROOT);
        long factor =
                switch (unit) {
                    case "bytes" -> 1;
                    case "kb" -> 1L << 10;
                    case "mb" -> 1L << 20;
                    case "gb" -> 1L << 30;
                    default -> -1;
                };
        if (factor < 0 || !line.arg(0).matches("\\d{1,12}")) {
            line.notMapped("'" + String.join(" ", line.args()) + "' is not a size");
            return;
        }
        set(key, Quantity.size(Long.parseLong(line.arg(0)) * factor), line);
    }

    private void set(String key, String value, SquidLine line) {
        draft.set(key, value, line.markHandled());
        DraftNode node = draft.root().find(key);
        if (node != null) {
            node.removableIfInvalid();
        }
    }

    private void translateSpecial(SquidLine line, Acls acls) {
        switch (line.name()) {
            case "acl" -> line.note("no imported setting uses the list");
            case "cache_dir" -> translateStorage(line);
            case "visible_hostname" -> set("via.name", line.arg(0), line);
            case "via" -> {
                set("via.response", line.isOn() ? "name" : "none", line);
                set("via.request", line.isOn() ? "name" : "none", line);
            }
            case "forwarded_for" -> translateForwardedFor(line);
            case "follow_x_forwarded_for" -> translateTrustedProxies(line, acls);
            case "acl_uses_indirect_client" ->
                set("access.filter_by_x_forwarded_for", Boolean.toString(line.isOn()), line);
            case "dns_nameservers" -> {
                draft.root()
                        .putWords("dns.name_servers", line.args())
                        .removableIfInvalid()
                        .from(line.markHandled());
            }
            case "hosts_file" -> set("dns.hosts_file", line.arg(0), line);
            case "dns_v4_first" -> set("dns.prefer", line.isOn() ? "ipv4" : "ipv6", line);
            case "negative_ttl" -> translateNegativeTtl(line);
            case "tcp_outgoing_address" -> translateLocalAddress(line);
            case "collapsed_forwarding" -> {
                if (line.isOn()) {
                    line.markHandled().matchesDefaultOf("cache.collapse_wait");
                } else {
                    set("cache.collapse_wait", "0", line);
                }
            }
            case "refresh_stale_hit" -> {
                String time = time(line.args());
                if (time != null) {
                    set("cache.stale_while_revalidate", time, line);
                }
            }
            case "reload_into_ims" -> line.markHandled().matchesDefaultOf("cache.ims_on_client_no_cache");
            case "access_log", "cache_access_log" -> translateLog(line);
            case "logformat" -> line.notMapped("write a template for log.access.format: docs/reference/logs.md");
            case "logfile_rotate" -> set("log.access.rotate_keep", line.arg(0), line);
            case "emulate_httpd_log" -> set("log.access.format", line.isOn() ? "common" : "squid", line);
            case "if", "else", "endif" ->
                line.notMapped("the condition is not evaluated; its lines are imported in any case");
            case "cachemgr_passwd" -> line.note("the admin API has its own socket and tokens");
            default -> line.notMapped("the importer does not know the directive");
        }
    }

    private void translateStorage(SquidLine line) {
        String type = line.arg(0);
        String megabytes = line.arg(2);
        if (type.equals("null")) {
            line.note("the cache is in RAM only by default");
        } else if (!megabytes.matches("\\d{1,9}")) {
            line.notMapped("the size is not understood");
        } else {
            DraftNode element = draft.addElement("storage", line.markHandled());
            // Millrace gets its own directory, because Squid's files stay in theirs.
            element.put("path", line.arg(1).replaceAll("/+$", "") + "-millrace");
            element.put("size", megabytes + "MiB");
            for (String word : line.argsFrom(3)) {
                if (word.startsWith("max-size=") || word.startsWith("min-size=")) {
                    line.notMapped(word.replaceAll("=.*", "") + ": all paths store responses of every size");
                } else if (word.equals("no-store") || word.equals("read-only")) {
                    line.notMapped(word + ": every path is written");
                }
            }
        }
    }

    private void translateForwardedFor(SquidLine line) {
        switch (line.arg(0)) {
            case "on" -> line.markHandled().matchesDefaultOf("access.forwarded_fields");
            case "transparent" -> line.notMapped("X-Forwarded-For is passed on only from access.trusted_proxies");
            default -> {
                draft.root()
                        .putWords("access.forwarded_fields", List.of("none"))
                        .from(line.markHandled());
            }
        }
    }

    private void translateTrustedProxies(SquidLine line, Acls acls) {
        if (line.arg(0).equals("deny")) {
            line.note("X-Forwarded-For is trusted only from access.trusted_proxies");
            return;
        }
        List<String> all = new ArrayList<>();
        for (String name : line.argsFrom(1)) {
            Acls.Acl acl = acls.find(name);
            List<String> addresses = acl == null || !acl.type().equals("src") ? null : Acls.addresses(acl);
            if (acl == null || addresses == null || addresses.contains("all") || name.startsWith("!")) {
                line.notMapped("access.trusted_proxies takes addresses only");
                return;
            }
            all.addAll(addresses);
            acl.recordKey("access.trusted_proxies");
        }
        draft.root()
                .putWords("access.trusted_proxies", all)
                .removableIfInvalid()
                .from(line.markHandled());
        draft.setDefault("access.filter_by_x_forwarded_for", "true", "Squid", "acl_uses_indirect_client on");
    }

    private void translateLocalAddress(SquidLine line) {
        if (!line.argsFrom(1).isEmpty() && !line.argsFrom(1).equals(List.of("all"))) {
            line.notMapped("write origin.source_address into the remap rules of these requests");
        } else if (draft.root().find("origin.source_address") != null) {
            line.note("an earlier line has the address of all connections");
        } else {
            set("origin.source_address", line.arg(0), line);
        }
    }

    private void translateNegativeTtl(SquidLine line) {
        String time = time(line.args());
        if (time == null || time.equals("0")) {
            line.markHandled().matchesDefaultOf("cache.negative_caching.enabled");
            return;
        }
        draft.root().put("cache.negative_caching.enabled", "true").from(line.markHandled());
        draft.root()
                .put("cache.negative_caching.lifetime", time)
                .removableIfInvalid()
                .from(line.entry());
    }

    private void translateLog(SquidLine line) {
        String target = line.arg(0).replaceAll("^(stdio|daemon):", "");
        if (target.equals("none")) {
            set("log.access.enabled", "false", line);
            return;
        }
        if (target.matches("(syslog|udp|tcp):.*")) {
            line.notMapped("the importer does not translate the target; log.access[].target: syslog sends lines to a"
                    + " syslog receiver");
            return;
        }
        String formatName = line.option("logformat");
        String format = formatName != null ? formatName : line.arg(1);
        line.markHandled().note("the file is access.log in the log directory; log.access.path names another");
        if (format.isEmpty() || Set.of("squid", "combined", "common").contains(format)) {
            draft.set("log.access.format", format.isEmpty() ? "squid" : format, line.entry());
        } else {
            line.notMapped("the format '" + format + "' is not translated; write a template in log.access.format");
        }
    }
}
