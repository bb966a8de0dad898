package io.millrace.acme;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client of the ask service. This service of the operator decides which names may have certificates on demand.
 * Thread-safe. Its methods block.
 */
final class AskClient {
    private static final Logger LOG = LoggerFactory.getLogger(AskClient.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** An answer of the ask service. */
    enum Answer {
        YES,
        NO,
        /** No answer, or a server error (5xx). */
        NONE
    }

    private final String url;
    private final HttpClient client;

    AskClient(String url, @Nullable Path caFile) throws IOException {
        this.url = url;
        // Redirects are not followed, so that only the configured URL can grant permission.
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(TIMEOUT);
        if (caFile != null) {
            builder.sslContext(TrustedCa.context(caFile));
        }
        client = builder.build();
    }

    /** Queries the service about a name. Only the status 200 is a permission. */
    Answer permits(String name) {
        String query = "domain=" + URLEncoder.encode(name, StandardCharsets.UTF_8);
        URI uri = URI.create(url + (url.indexOf('?') < 0 ? "?" : "&") + query);
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(TIMEOUT).build();
        try {
            HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            // The body is not read: it is not needed, and the timeout does not cover it.
            response.body().close();
            return answer(name, response.statusCode());
        } catch (IOException e) {
            LOG.warn("ACME: the request to tls.acme.on_demand.ask for {} failed: {}", name, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Answer.NONE;
    }

    private static Answer answer(String name, int status) {
        if (status == 200) {
            return Answer.YES;
        }
        LOG.info("ACME: tls.acme.on_demand.ask permits no certificate for {} (status={})", name, status);
        return status >= 500 ? Answer.NONE : Answer.NO;
    }
}
