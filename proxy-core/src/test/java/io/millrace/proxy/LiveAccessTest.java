package io.millrace.proxy;

import io.millrace.proxy.admin.data.PurgeAdmin;
import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of access rights and of trusted senders. */
class LiveAccessTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private String authority() {
        return "127.0.0.1:" + live.proxy().origin().port();
    }

    /** Returns the status of the response to a client of the forward proxy. */
    private int forwarded() throws IOException {
        return live.proxy()
                .client()
                .send("GET http://" + authority() + live.fresh() + " HTTP/1.1\r\nHost: x\r\n\r\n")
                .response()
                .status();
    }

    private int connected() throws IOException {
        return live.proxy()
                .client()
                .send("CONNECT " + authority() + " HTTP/1.1\r\nHost: " + authority() + "\r\n\r\n")
                .head()
                .status();
    }

    /** Returns rules for one host, so that requests to all others are forwarded or refused. */
    private LiveProxy forwarding(String settings) {
        return live.file("remap: [{map: 'http://test.example/', to: '@origin'}]\nforward_proxy: {" + settings + "}");
    }

    /** Returns a filter with a name, for all requests. */
    private LiveProxy filter(String settings) {
        return live.file("filters: [{name: one, " + settings + "}]\naccess: {filters: [one]}");
    }

    @LiveKey("access.filters")
    void filtersForAll() throws Exception {
        live.file("access: {filters: [{action: deny, methods: [<PUT|GET>]}]}").turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("access.filter_by_x_forwarded_for")
    void filtersGoByXForwardedFor() throws Exception {
        live.file("""
                        access:
                          filter_by_x_forwarded_for: <false|true>
                          trusted_proxies: 127.0.0.1
                          filters: [{action: deny, src_ip: 192.0.2.7}]
                        """).turns(200, 403, () -> live.status("/", "X-Forwarded-For: 192.0.2.7\r\n"));
    }

    @LiveKey("access.trusted_proxies")
    void whomToBelieve() throws Exception {
        live.echoes()
                .file("access: {trusted_proxies: <10.0.0.1|127.0.0.1>}")
                .turns(
                        "127.0.0.1",
                        "192.0.2.7, 127.0.0.1",
                        () -> RawClient.field(live.text("/", "X-Forwarded-For: 192.0.2.7\r\n"), "x-forwarded-for"));
    }

    @LiveKey("access.forwarded_fields")
    void whatOriginsAreToldOfClients() throws Exception {
        live.echoes()
                .file("access: {forwarded_fields: <none|client-ip>}")
                .turns(null, "127.0.0.1", () -> live.sent("client-ip"));
    }

    private PurgeAdmin purges() {
        return new PurgeAdmin(new ServerView(live.proxy().proxy()));
    }

    @LiveKey("purge.history")
    void recordsOfPurges() throws Exception {
        live.file("purge: {history: <1|5>}").turns(1, 2, () -> {
            live.proxy().client().send("PURGE /a HTTP/1.1\r\nHost: x\r\n\r\n").response();
            live.proxy().client().send("PURGE /b HTTP/1.1\r\nHost: x\r\n\r\n").response();
            return Math.min(2, purges().latest(null, 5).size());
        });
    }

    @LiveKey("purge.undo_window")
    void undoOfPurges() throws Exception {
        live.file("purge: {undo_window: <0s|1h>}").turns(false, true, () -> {
            live.proxy()
                    .client()
                    .send("PURGE /a HTTP/1.1\r\nHost: x\r\nFastly-Soft-Purge: 1\r\n\r\n")
                    .response();
            return purges().latest(null, 1).get(0).undoUntilMillis() > 0;
        });
    }

    @LiveKey("access.proxy_protocol_allow")
    void whosePROXYHeadersAreBelieved() throws Exception {
        live.file("""
                        listen: [{address: '127.0.0.1:0', proxy_protocol: accept}]
                        access: {proxy_protocol_allow: <10.0.0.1|127.0.0.1>}
                        """)
                .turns(
                        LiveProxy.CLOSED,
                        200,
                        () -> LiveProxy.statusOrClosed(live.proxy()
                                .client()
                                .send("PROXY TCP4 192.0.2.7 198.51.100.1 56324 80\r\n")
                                .get("/")));
    }

    @LiveKey("filters")
    void filtersByName() throws Exception {
        live.file("""
                        filters: [<{name: one, action: allow}|{name: one, action: deny, methods: [GET]}>]
                        access: {filters: [one]}
                        """).turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("filters[].name")
    void theNameOfAFilter() throws Exception {
        live.file("""
                        filters: [{name: <one|two>, action: deny, methods: [GET]}]
                        access: {filters: [<one|two>]}
                        """)
                .turns("millrace; detail=filter:one", "millrace; detail=filter:two", () -> live.field("cache-status"));
    }

    @LiveKey("filters[].action")
    void theActionOfAFilter() throws Exception {
        filter("action: <allow|deny>, src_ip: 127.0.0.1").turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("filters[].src_ip")
    void theClientsOfAFilter() throws Exception {
        filter("action: deny, src_ip: <10.0.0.1|127.0.0.1>").turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("filters[].in_ip")
    void theLocalAddressesOfAFilter() throws Exception {
        filter("action: deny, in_ip: <10.0.0.1|127.0.0.1>").turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("filters[].methods")
    void theMethodsOfAFilter() throws Exception {
        filter("action: deny, methods: [<PUT|GET>]").turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("forward_proxy.enabled")
    void forwarding() throws Exception {
        forwarding("enabled: <false|true>, allow: 127.0.0.1, allow_destinations: 127.0.0.1")
                .turns(404, 200, this::forwarded);
    }

    @LiveKey("forward_proxy.allow")
    void whoIsForwarded() throws Exception {
        forwarding("enabled: true, allow: <10.0.0.1|127.0.0.1>, allow_destinations: 127.0.0.1")
                .turns(403, 200, this::forwarded);
    }

    @LiveKey("forward_proxy.connect_ports")
    void portsOfConnect() throws Exception {
        forwarding(
                        "enabled: true, allow: 127.0.0.1, allow_destinations: 127.0.0.1, connect_ports: [<443|@origin_port>]")
                .turns(403, 200, this::connected);
    }

    @LiveKey("forward_proxy.deny_destinations")
    void whereNothingIsForwardedTo() throws Exception {
        forwarding("enabled: true, allow: 127.0.0.1, deny_destinations: <127.0.0.0/8|10.0.0.0/8>")
                .turns(403, 200, this::forwarded);
    }

    @LiveKey("forward_proxy.allow_destinations")
    void whereItIsForwardedAllTheSame() throws Exception {
        forwarding("enabled: true, allow: 127.0.0.1, allow_destinations: <10.0.0.1|127.0.0.1>")
                .turns(403, 200, this::forwarded);
    }

    @LiveKey("forward_proxy.origins")
    void proxiesThatRequestsGoTo() throws Exception {
        String hosts = "parent_is_proxy: true, hosts: ['%s']}";
        String gone = "[{name: one, "
                + hosts.formatted(live.origin(RawOrigin.Exchange::reset).url());
        String there = ", {name: two, "
                + hosts.formatted(
                        live.origin(request -> request.ok("", new byte[0])).url());
        live.file(
                        "remap: [{map: 'http://test.example/', to: '@origin'}]\norigins: " + gone + there
                                + "]\nforward_proxy: {enabled: true, allow: 127.0.0.1, allow_destinations: 127.0.0.1, origins: <one|two>}")
                .turns(502, 200, this::forwarded);
    }
}
