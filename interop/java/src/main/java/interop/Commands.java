package interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * What the process can be told to do. Times are in milliseconds; a lease of 0 or
 * none means Redisson's watchdog. Each command runs on the thread it names.
 */
final class Commands {
    private final RedissonClient client;

    /**
     * One RLock object per name, as in a program that keeps it in a field: some
     * versions remember the last lease in that object.
     */
    private final Map<String, RLock> locks = new ConcurrentHashMap<>();

    Commands(RedissonClient client) {
        this.client = client;
    }

    Object run(Line request) throws Exception {
        long wait = request.number("wait", 0);
        long lease = request.number("lease", 0);
        String name = request.text("name");
        RLock lock = name == null ? null : locks.computeIfAbsent(name, client::getLock);
        switch (request.text("cmd")) {
            case "id":
                return client.getId() + ":" + Thread.currentThread().getId();
            case "lock":
                if (lease > 0) {
                    lock.lock(lease, TimeUnit.MILLISECONDS);
                } else {
                    lock.lock();
                }
                return true;
            case "tryLock":
                // -1 is the watchdog in every version; 0 is not (see docs/REDISSON.md).
                if (wait == 0 && lease == 0) {
                    return lock.tryLock();
                }
                return lock.tryLock(wait, lease > 0 ? lease : -1, TimeUnit.MILLISECONDS);
            case "tryLockZeroLease":
                return lock.tryLock(0, 0, TimeUnit.MILLISECONDS);
            case "unlock":
                lock.unlock();
                return true;
            case "forceUnlock":
                return lock.forceUnlock();
            case "isLocked":
                return lock.isLocked();
            case "isHeldByThread":
                // Only threads of this client can be asked about: Redisson puts
                // its own uuid before the number.
                return lock.isHeldByThread(request.number("n", Thread.currentThread().getId()));
            case "holdCount":
                return (long) lock.getHoldCount();
            case "ttl":
                return lock.remainTimeToLive();
            case "count":
                // The count of any owner, which RLock cannot tell: the hash itself.
                return client.<String, String>getMap(name, StringCodec.INSTANCE).get(request.text("owner"));
            case "contend":
                return new Storm(client, name, request.text("counter")).rounds(request.number("n", 1));
            case "storm":
                return new Storm(client, name, request.text("counter")).run(request.number("wait", 1000), (int) request.number("workers", 1));
            case "halt":
                Runtime.getRuntime().halt(1);
                return null;
            default:
                throw new IllegalArgumentException("unknown command " + request.text("cmd"));
        }
    }
}
