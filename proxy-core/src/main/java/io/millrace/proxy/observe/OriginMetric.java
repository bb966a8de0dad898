package io.millrace.proxy.observe;

import java.util.List;

/** The metrics of requests and connections to origins, hosts of groups, and DNS lookups. Immutable. */
public enum OriginMetric implements Metric {
    REQUEST_DURATION(
            "millrace_origin_request_duration_seconds",
            Kind.HISTOGRAM,
            "seconds",
            "Time from a request sent to an origin to the head of its response; when it rises, look at the origin."),
    REQUESTS(
            "millrace_origin_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests sent to origins; the share of validation shows the cost of short lifetimes.",
            "kind"),
    RETRIES(
            "millrace_origin_retries_total",
            Kind.COUNTER,
            "requests",
            "Origin requests sent again on a new connection; many mean that the origin closes idle connections early:"
                    + " lower origin.keep_alive below its limit."),
    WAITS(
            "millrace_origin_waits_total",
            Kind.COUNTER,
            "requests",
            "Requests that waited for a connection to their origin, by the limit that was reached.",
            "limit"),
    HTTP2_CONNECTIONS(
            "millrace_origin_http2_connections",
            Kind.GAUGE,
            "connections",
            "HTTP/2 connections to origins now; millrace_connections includes them."),
    HTTP2_CONNECTIONS_OPENED(
            "millrace_origin_http2_connections_opened_total",
            Kind.COUNTER,
            "connections",
            "HTTP/2 connections to origins opened since the start; compare with millrace_connections_opened_total."),
    HTTP2_STREAMS(
            "millrace_origin_http2_streams",
            Kind.GAUGE,
            "requests",
            "Origin requests in progress over HTTP/2; divide by the connections to see how much these are shared."),
    HTTP2_REQUESTS(
            "millrace_origin_http2_requests_total",
            Kind.COUNTER,
            "requests",
            "Origin requests sent by HTTP/2 since the start."),
    HTTP2_NOT_PROCESSED(
            "millrace_origin_http2_not_processed_total",
            Kind.COUNTER,
            "requests",
            "HTTP/2 requests that origins reported as not processed; they are sent again. Each restart of an origin"
                    + " causes a few."),
    TRIES(
            "millrace_origin_tries_total",
            Kind.COUNTER,
            "requests",
            "Requests that were sent to another host of a group, because the first host did not answer; see millctl"
                    + " origin list."),
    HOST_UP(
            "millrace_origin_host_up",
            Kind.GAUGE,
            "hosts",
            "1 while a host of a group of origins gets requests, 0 while it does not; millctl origin list says why.",
            "group",
            "host"),
    HOST_REQUESTS(
            "millrace_origin_host_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests sent to a host of a group of origins, including retries.",
            "group",
            "host"),
    HOST_FAILURES(
            "millrace_origin_host_failures_total",
            Kind.COUNTER,
            "requests",
            "Requests that a host of a group of origins did not answer, or answered with a status of markdown.codes.",
            "group",
            "host"),
    HOST_REQUESTS_ACTIVE(
            "millrace_origin_host_requests_active",
            Kind.GAUGE,
            "requests",
            "Requests in progress at a host of a group of origins; a host with many more than the others is slow.",
            "group",
            "host"),
    HOST_LATENCY(
            "millrace_origin_host_latency_seconds",
            Kind.GAUGE,
            "seconds",
            "Smoothed time from a request to the head of its response, of a host of a group of origins.",
            "group",
            "host"),
    MARKED_DOWN(
            "millrace_origins_marked_down",
            Kind.GAUGE,
            "origins",
            "Origins without a group that are marked down now (origin.markdown); millctl host list names them."),
    DOWN_STALE(
            "millrace_origin_down_stale_total",
            Kind.COUNTER,
            "requests",
            "Requests answered with a stale stored response without a request to the origin, which is marked down."),
    DNS_LOOKUPS(
            "millrace_dns_lookups_total",
            Kind.COUNTER,
            "lookups",
            "DNS lookups for new origin connections; stale and failed mean that no name server answers.",
            "result"),
    FAILURES(
            "millrace_origin_failures_total",
            Kind.COUNTER,
            "failures",
            "Failures on the origin's side, by reason; the access log names the origin.",
            "reason");

    @SuppressWarnings("ImmutableEnumChecker") // a record of immutable values
    private final Definition definition;

    OriginMetric(String metricName, Kind kind, String unit, String description, String... labels) {
        definition = new Definition(metricName, kind, unit, description, List.of(labels));
    }

    @Override
    public Definition definition() {
        return definition;
    }
}
