package org.apache.paimon.mergetree.compact;

import java.util.function.LongSupplier;

/** A trigger of full compactions whose clock is given. */
public final class ClockedFullCompactTrigger extends FullCompactTrigger {
    private final LongSupplier clock;

    public ClockedFullCompactTrigger(Long intervalMillis, Long totalSizeBytes, LongSupplier clock) {
        super(intervalMillis, totalSizeBytes);
        this.clock = clock;
    }

    @Override
    long currentTimeMillis() {
        return clock.getAsLong();
    }
}
