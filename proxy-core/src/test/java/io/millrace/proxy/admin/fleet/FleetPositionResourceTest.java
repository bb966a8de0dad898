package io.millrace.proxy.admin.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.purge.fleet.FleetPosition;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Tests on which thread the worker applies purges of other nodes. */
class FleetPositionResourceTest {
    /** All blocking requests share one thread, so a slow one would delay purges of other nodes. */
    @Test
    void purgesDoNotWaitForOtherBlockingRequests() {
        for (boolean mayBlock : List.of(true, false)) {
            for (AdminResource resource : FleetPositionResource.all(service(mayBlock))) {
                assertEquals(mayBlock, resource.isBlocking(), resource.method());
            }
        }
    }

    private static FleetService service(boolean mayBlock) {
        return new FleetService() {
            @Override
            public FleetPosition position() {
                return new FleetPosition("", 0, "");
            }

            @Override
            public boolean mayBlock() {
                return mayBlock;
            }

            @Override
            public CompletionStage<Outcome> apply(FleetBatch batch) {
                return CompletableFuture.completedFuture(new Outcome(batch.to(), List.of()));
            }
        };
    }
}
