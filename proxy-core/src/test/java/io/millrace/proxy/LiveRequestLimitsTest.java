package io.millrace.proxy;

import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the request rate limits. */
class LiveRequestLimitsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private LiveProxy limit(String keys) {
        return live.file("request_limits: [{" + keys + "}]");
    }

    private String twoStatuses(String path, String... fields) throws IOException {
        return live.status(path, fields) + " " + live.status(path, fields);
    }

    @LiveKey("request_limits")
    void aLimitIsAdded() throws Exception {
        live.file("request_limits: [<{name: a, rate: 1000/s}|{name: a, rate: 1/d}>]")
                .turns("200 200", "200 429", () -> twoStatuses(live.fresh()));
    }

    @LiveKey("remap[].request_limits")
    void limitsOfARemapRule() throws Exception {
        live.file("remap: [{map: /, to: '@origin', request_limits: [{name: a, rate: <1000/s|1/d>}]}]")
                .turns("200 200", "200 429", () -> twoStatuses(live.fresh()));
    }

    @LiveKey("request_limits[].name")
    void name() throws Exception {
        limit("name: <a|b>, rate: 1/d").turns("\"a\";q=1;w=86400", "\"b\";q=1;w=86400", () -> {
            live.status(live.fresh());
            return live.get(live.fresh()).field("ratelimit-policy");
        });
    }

    @LiveKey("request_limits[].when")
    void condition() throws Exception {
        limit("name: a, rate: 1/d, when: 'path == \"/<a|b>\"'").turns("200 200", "200 429", () -> twoStatuses("/b"));
    }

    @LiveKey("request_limits[].key")
    void key() throws Exception {
        limit("name: a, rate: 1/d, key: <all|'cookie[\"c\"]'>")
                .turns("200 429", "200 200", () -> twoStatuses(live.fresh()));
    }

    @LiveKey("request_limits[].rate")
    void rate() throws Exception {
        limit("name: a, rate: <1000/s|1/d>").turns("200 200", "200 429", () -> twoStatuses(live.fresh()));
    }

    @LiveKey("request_limits[].burst")
    void burst() throws Exception {
        limit("name: a, rate: 1/d, burst: <1|3>").turns("200 429", "200 200", () -> twoStatuses(live.fresh()));
    }

    @LiveKey("request_limits[].dry_run")
    void dryRun() throws Exception {
        limit("name: a, rate: 1/d, dry_run: <true|false>").turns("200 200", "429 429", () -> twoStatuses(live.fresh()));
    }
}
