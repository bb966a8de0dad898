package io.millrace.acme;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Asks the operator's service whether a name may have a certificate. Thread-safe; blocks. */
final class AskClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final String url;
    private final HttpClient client;

    AskClient(String url, @Nullable Path caFile) throws IOException {
        this.url = url;
        HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(TIMEOUT);
        if (caFile != null) {
            builder.sslContext(TrustedCa.context(caFile));
        }
        client = builder.build();
    }

    /** True for the status 200 and for no other. */
    boolean permits(String name) throws IOException, InterruptedException {
        String query = "domain=" + URLEncoder.encode(name, StandardCharsets.UTF_8);
        URI uri = URI.create(url + (url.indexOf('?') < 0 ? "?" : "&") + query);
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(TIMEOUT).build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    }
}
